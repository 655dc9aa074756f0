import { Command } from 'commander';
import type { Locale } from '../logins/people/person.dto';
import type { CreateAgent, UpdateAgent } from '../workspaces/agent.dto';
import { addThingCommand, addWorkspaceCommand } from './command';
import { option, orNull, required, trueOrFalse } from './option-values';

type CreateOptions = Omit<CreateAgent, 'isBot' | 'active'> & { bot?: boolean; inactive?: boolean };
type UpdateOptions = Omit<UpdateAgent, 'displayName'> & { displayName?: string | false };

export function addAgentCommands(program: Command): void {
  const agent = program.command('agent').description("A workspace's agents and bot accounts.");

  addWorkspaceCommand(agent, 'create', {
    does: 'Creates an agent.',
    options: [
      required('--name <name>', 'the name that colleagues see'),
      option('--display-name <name>', 'the name that customers see; none by default'),
      required('--email <address>', 'unique within the workspace'),
      required('--role <role>', 'OWNER, ADMIN or AGENT'),
      option('--bot', 'create a bot account'),
      option('--inactive', 'create it inactive'),
    ],
    prints: '{id, name, displayName, email, role, isBot, active, …}',
    calls: ['agent create --workspace acme --name Ada --email ada@example.com --role OWNER'],
    run: (
      { agents, operator },
      tenantId,
      { bot: isBot = false, inactive = false, ...given }: CreateOptions,
    ) => agents.create(tenantId, { ...given, isBot, active: !inactive }, operator),
  });
  addWorkspaceCommand(agent, 'list', {
    does: 'Lists all agents of a workspace, also inactive ones and bots, oldest first.',
    prints: '{data: [agents]}',
    run: async ({ agents, operator }, tenantId) => ({ data: await agents.list(tenantId, operator) }),
  });
  addThingCommand(agent, 'update', 'Agent', {
    does: "Changes an agent's names or role, or activates or deactivates it.",
    options: [
      option('--name <name>', 'the name that colleagues see'),
      option('--display-name <name>', 'the name that customers see'),
      option('--no-display-name', 'customers see no name'),
      option('--role <role>', 'OWNER, ADMIN or AGENT'),
      option('--active <boolean>', 'true or false', trueOrFalse),
    ],
    needsChange: true,
    prints: 'the agent',
    calls: ['agent update --id <id> --active false'],
    run: ({ agents, operator }, tenantId, id, { displayName, ...others }: UpdateOptions) =>
      agents.update(tenantId, id, { ...others, displayName: orNull(displayName) }, operator),
  });
  addThingCommand(agent, 'erase', 'Agent', {
    does: 'Erases what names an inactive agent, and its login if that opens no other workspace.',
    prints: '{erased: true}',
    run: async ({ agentErasures, operator }, tenantId, id) => {
      await agentErasures.erase(tenantId, id, operator);
      return { erased: true };
    },
  });
  addWorkspaceCommand(agent, 'invite', {
    does: 'Invites an agent to log in. The link works once, for 24 hours; an earlier one ends.',
    options: [
      required('--agent <id>', 'the agent'),
      option('--locale <locale>', 'the language of the mail, en or de'),
    ],
    prints: '{invitation, isMailed, link, expiresAt}; the link only when no mail server is configured',
    calls: ['agent invite --workspace acme --agent <id>'],
    run: ({ invitations, operator }, tenantId, { agent: id, locale }: { agent: string; locale?: Locale }) =>
      invitations.invite(tenantId, id, { locale }, operator),
  });
}
