import { Command } from 'commander';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import type { ConversationStatus } from '../conversations/conversation.entity';
import { example, inWorkspace, requireChange, withServices } from './command';
import { channel as channelName, isoDateOrNone } from './option-values';

interface CreateOptions {
  workspace: string;
  contact: string;
  channel: Channel;
}

interface UpdateOptions {
  id: string;
  agent: string;
  status?: ConversationStatus;
  assign?: string;
  snoozeUntil?: Date | 'none';
}

export function addConversationCommands(program: Command): void {
  const conversation = program.command('conversation').description("A workspace's conversations.");

  conversation
    .command('create')
    .description('Opens a conversation with a contact.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--contact <id>', 'the contact')
    .requiredOption('--channel <channel>', CHANNELS.join(', '), channelName)
    .addHelpText(
      'after',
      example(
        '{id, sourceChannel, status, contact, …}',
        'conversation create --workspace acme --contact <id> --channel WHATSAPP',
      ),
    )
    .action(
      inWorkspace<CreateOptions>(({ conversations }, tenantId, { contact: contactId, channel }) =>
        conversations.create(tenantId, { contactId, channel }),
      ),
    );

  conversation
    .command('update')
    .description('Changes a conversation as a human agent.')
    .requiredOption('--id <id>', 'the conversation')
    .requiredOption('--agent <id>', 'the agent who changes it')
    .option('--status <status>', 'OPEN, SNOOZED or CLOSED')
    .option('--assign <agent>', 'the new assignee: the id of an agent, or "none"')
    .option(
      '--snooze-until <date>',
      'when it opens by itself, with --status SNOOZED or while it is snoozed: ISO 8601, or "none"',
      isoDateOrNone,
    )
    .hook('preAction', requireChange)
    .addHelpText(
      'after',
      example(
        '{id, sourceChannel, status, snoozedUntil, assignedAgentId, …}',
        'conversation update --id <id> --agent <id> --status CLOSED --assign none',
        'conversation update --id <id> --agent <id> --status SNOOZED --snooze-until 2027-01-04T08:00:00Z',
      ),
    )
    .action(
      withServices(async ({ lookup, conversations, operator }, options: UpdateOptions) => {
        const { id, agent, status, assign, snoozeUntil } = options;
        const tenantId = await lookup.findWorkspaceId('Conversation', id);
        const actor = await lookup.getActingAgent(tenantId, agent, operator);
        const assignedAgentId = assign === 'none' ? null : assign;
        const snoozedUntil = snoozeUntil === 'none' ? null : snoozeUntil;
        return conversations.update(tenantId, id, { status, assignedAgentId, snoozedUntil }, actor);
      }),
    );
}
