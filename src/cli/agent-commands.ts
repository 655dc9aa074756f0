import { Command } from 'commander';
import type { AgentRole } from '../access/agent-role';
import type { Locale } from '../logins/people/person.dto';
import { addListCommand, example, inWorkspace, requireChange, withServices } from './command';
import { trueOrFalse } from './option-values';

interface CreateOptions {
  workspace: string;
  name: string;
  displayName?: string;
  email: string;
  role: AgentRole;
  bot?: boolean;
  inactive?: boolean;
}

interface InviteOptions {
  workspace: string;
  agent: string;
  locale?: Locale;
}

interface UpdateOptions {
  id: string;
  name?: string;
  /** Name by which customers know the agent; false to remove it. */
  displayName?: string | false;
  role?: AgentRole;
  active?: boolean;
}

export function addAgentCommands(program: Command): void {
  const agent = program.command('agent').description("A workspace's agents and bot accounts.");

  agent
    .command('create')
    .description('Creates an agent.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--name <name>', 'the name that colleagues see')
    .option('--display-name <name>', 'the name that customers see; none by default')
    .requiredOption('--email <address>', 'unique within the workspace')
    .requiredOption('--role <role>', 'OWNER, ADMIN or AGENT')
    .option('--bot', 'create a bot account')
    .option('--inactive', 'create it inactive')
    .addHelpText(
      'after',
      example(
        '{id, name, displayName, email, role, isBot, active, …}',
        'agent create --workspace acme --name Ada --email ada@example.com --role OWNER',
      ),
    )
    .action(
      inWorkspace<CreateOptions>(
        ({ agents, operator }, tenantId, { bot: isBot = false, inactive = false, ...given }) =>
          agents.create(tenantId, { ...given, isBot, active: !inactive }, operator),
      ),
    );

  addListCommand(agent, {
    does: 'Lists all agents of a workspace, also inactive ones and bots, oldest first.',
    things: 'agents',
    run: ({ agents, operator }, tenantId) => agents.list(tenantId, operator),
  });

  agent
    .command('update')
    .description("Changes an agent's names or role, or activates or deactivates it.")
    .requiredOption('--id <id>', 'the agent')
    .option('--name <name>', 'the name that colleagues see')
    .option('--display-name <name>', 'the name that customers see')
    .option('--no-display-name', 'customers see no name')
    .option('--role <role>', 'OWNER, ADMIN or AGENT')
    .option('--active <boolean>', 'true or false', trueOrFalse)
    .hook('preAction', requireChange)
    .addHelpText('after', example('the agent', 'agent update --id <id> --active false'))
    .action(
      withServices(async ({ lookup, agents, operator }, { id, displayName, ...others }: UpdateOptions) => {
        const changes = { ...others, displayName: displayName === false ? null : displayName };
        return agents.update(await lookup.findWorkspaceId('Agent', id), id, changes, operator);
      }),
    );

  agent
    .command('erase')
    .description('Erases what names an inactive agent, and its login if that opens no other workspace.')
    .requiredOption('--id <id>', 'the agent')
    .addHelpText('after', example('{erased: true}', 'agent erase --id <id>'))
    .action(
      withServices(async ({ lookup, agentErasures, operator }, { id }: { id: string }) => {
        await agentErasures.erase(await lookup.findWorkspaceId('Agent', id), id, operator);
        return { erased: true };
      }),
    );

  agent
    .command('invite')
    .description('Invites an agent to log in. The link works once, for 24 hours; an earlier one ends.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--agent <id>', 'the agent')
    .option('--locale <locale>', 'the language of the mail, en or de')
    .addHelpText(
      'after',
      example(
        '{invitation, isMailed, link, expiresAt}; the link only when no mail server is configured',
        'agent invite --workspace acme --agent <id>',
      ),
    )
    .action(
      inWorkspace<InviteOptions>(({ invitations, operator }, tenantId, { agent: id, locale }) =>
        invitations.invite(tenantId, id, { locale }, operator),
      ),
    );
}
