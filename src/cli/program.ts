import { Command } from 'commander';
import { addAgentCommands } from './agent-commands';
import { addAlertCommands } from './alert-commands';
import { addApiKeyCommands } from './api-key-commands';
import { addAuditCommands } from './audit-commands';
import { addChannelCommands } from './channel-commands';
import { addContactCommands } from './contact-commands';
import { addConversationCommands } from './conversation-commands';
import { addFilesCommands } from './files-commands';
import { addLoginCommands } from './login-commands';
import { addMessageCommands } from './message-commands';
import { addMigrateCommand } from './migrate-command';
import { addOutboxCommands } from './outbox-commands';
import { operatorOption } from './operator';
import { addSecretsCommands } from './secrets-commands';
import { addWebhookCommands } from './webhook-commands';
import { addWorkspaceCommands } from './workspace-commands';

const PREAMBLE = `
Every command prints one JSON object on stdout. An error prints {"error": {"code", "message", …}} on stderr and
exits with 1. The database is DATABASE_URL, or else the one that "npm start" runs in this folder; "migrate" enters it by
DATABASE_DIRECT_URL or DATABASE_OWNER_URL, if one is set.
`;

/** Builds the CLI. It loads no large module before a command runs, so that help is fast. */
export function buildProgram(): Command {
  const program = new Command('node dist/cli.js')
    .description('Administers the conversation messaging service.')
    .addOption(operatorOption())
    .addHelpText('after', PREAMBLE)
    .showHelpAfterError(false)
    .exitOverride()
    // Commander prints no errors itself, because `reportFailure` prints them as JSON.
    .configureOutput({ writeErr: () => undefined });
  addMigrateCommand(program);
  addWorkspaceCommands(program);
  addAgentCommands(program);
  addLoginCommands(program);
  addApiKeyCommands(program);
  addWebhookCommands(program);
  addChannelCommands(program);
  addContactCommands(program);
  addConversationCommands(program);
  addMessageCommands(program);
  addFilesCommands(program);
  addAlertCommands(program);
  addAuditCommands(program);
  addOutboxCommands(program);
  addSecretsCommands(program);
  return program;
}
