import { Command } from 'commander';
import { CHANNELS } from '../common/channel-descriptors';
import type { CreateConversation, UpdateConversation } from '../conversations/conversation.dto';
import { addThingCommand, addWorkspaceCommand } from './command';
import { channel as channelName, isoDate, option, orNone, orNull, required } from './option-values';

type CreateOptions = Pick<CreateConversation, 'channel'> & { contact: string };

interface UpdateOptions extends Pick<UpdateConversation, 'status'> {
  agent: string;
  assign?: string | false;
  snoozeUntil?: Date | false;
}

export function addConversationCommands(program: Command): void {
  const conversation = program.command('conversation').description("A workspace's conversations.");

  addWorkspaceCommand(conversation, 'create', {
    does: 'Opens a conversation with a contact.',
    options: [
      required('--contact <id>', 'the contact'),
      required('--channel <channel>', CHANNELS.join(', '), channelName),
    ],
    prints: '{id, sourceChannel, status, contact, …}',
    calls: ['conversation create --workspace acme --contact <id> --channel WHATSAPP'],
    run: ({ conversations }, tenantId, { contact: contactId, channel }: CreateOptions) =>
      conversations.create(tenantId, { contactId, channel }),
  });
  addThingCommand(conversation, 'update', 'Conversation', {
    does: 'Changes a conversation as a human agent.',
    options: [
      required('--agent <id>', 'the agent who changes it'),
      option('--status <status>', 'OPEN, SNOOZED or CLOSED'),
      option('--assign <agent>', 'the new assignee: the id of an agent, or "none"', orNone('none', String)),
      option(
        '--snooze-until <date>',
        'when it opens by itself, with --status SNOOZED or while it is snoozed: ISO 8601, or "none"',
        orNone('none', isoDate),
      ),
    ],
    needsChange: true,
    prints: '{id, sourceChannel, status, snoozedUntil, assignedAgentId, …}',
    calls: [
      'conversation update --id <id> --agent <id> --status CLOSED --assign none',
      'conversation update --id <id> --agent <id> --status SNOOZED --snooze-until 2027-01-04T08:00:00Z',
    ],
    run: async ({ lookup, conversations, operator }, tenantId, id, given: UpdateOptions) => {
      const { agent, status, assign, snoozeUntil } = given;
      const actor = await lookup.getActingAgent(tenantId, agent, operator);
      const changes = { status, assignedAgentId: orNull(assign), snoozedUntil: orNull(snoozeUntil) };
      return conversations.update(tenantId, id, changes, actor);
    },
  });
}
