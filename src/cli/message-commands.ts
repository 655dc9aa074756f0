import { Command } from 'commander';
import { addCommand } from './command';
import { required } from './option-values';

interface MessageOptions {
  conversation: string;
  body: string;
}

const CONVERSATION = required('--conversation <id>', 'the conversation');

export function addMessageCommands(program: Command): void {
  const message = program.command('message').description("A conversation's messages.");

  addCommand(message, 'receive', {
    does: 'Stores a message from the customer, as if it came over the channel.',
    options: [CONVERSATION, required('--body <text>', 'what the customer wrote')],
    prints: '{id, senderType, body, createdAt, …}',
    calls: ["message receive --conversation <id> --body 'Where is my parcel?'"],
    run: async ({ lookup, messages }, { conversation, body }: MessageOptions) =>
      messages.receive(await lookup.findWorkspaceId('Conversation', conversation), conversation, { body }),
  });
  addCommand(message, 'send', {
    does: 'Sends an outbound message to the customer, as a human agent.',
    options: [
      CONVERSATION,
      required('--agent <id>', 'the agent who writes'),
      required('--body <text>', 'what the agent writes'),
    ],
    prints: '{id, senderType, body, createdAt, …}',
    calls: ["message send --conversation <id> --agent <id> --body 'It is on its way.'"],
    run: async ({ lookup, messages, operator }, given: MessageOptions & { agent: string }) => {
      const { conversation, agent: senderAgentId, body } = given;
      const tenantId = await lookup.findWorkspaceId('Conversation', conversation);
      return (await messages.send(tenantId, conversation, { body, senderAgentId }, operator)).message;
    },
  });
}
