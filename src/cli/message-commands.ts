import { Command } from 'commander';
import { example, withServices } from './command';

interface ReceiveOptions {
  conversation: string;
  body: string;
}

interface SendOptions extends ReceiveOptions {
  agent: string;
}

export function addMessageCommands(program: Command): void {
  const message = program.command('message').description("A conversation's messages.");

  message
    .command('receive')
    .description('Stores a message from the customer, as if it came over the channel.')
    .requiredOption('--conversation <id>', 'the conversation')
    .requiredOption('--body <text>', 'what the customer wrote')
    .addHelpText(
      'after',
      example(
        '{id, senderType, body, createdAt, …}',
        "message receive --conversation <id> --body 'Where is my parcel?'",
      ),
    )
    .action(
      withServices(async ({ lookup, messages }, { conversation, body }: ReceiveOptions) =>
        messages.receive(await lookup.findWorkspaceId('Conversation', conversation), conversation, { body }),
      ),
    );

  message
    .command('send')
    .description('Sends an outbound message to the customer, as a human agent.')
    .requiredOption('--conversation <id>', 'the conversation')
    .requiredOption('--agent <id>', 'the agent who writes')
    .requiredOption('--body <text>', 'what the agent writes')
    .addHelpText(
      'after',
      example(
        '{id, senderType, body, createdAt, …}',
        "message send --conversation <id> --agent <id> --body 'It is on its way.'",
      ),
    )
    .action(
      withServices(async ({ lookup, messages, operator }, { conversation, agent, body }: SendOptions) => {
        const tenantId = await lookup.findWorkspaceId('Conversation', conversation);
        const sent = await messages.send(tenantId, conversation, { body, senderAgentId: agent }, operator);
        return sent.message;
      }),
    );
}
