// An assistant that answers each message of a customer, once.
import { createServer } from 'node:http';
import { MessagingClient, webhooks } from '@conversation-messaging/client';

const { MESSAGING_URL = '', MESSAGING_API_KEY = '', WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const client = new MessagingClient({ baseUrl: MESSAGING_URL, apiKey: MESSAGING_API_KEY });

/** @type {(question: string, name: string) => string} */
function answerTo(question, name) {
  // Here yours asks a model, or a person.
  return question.includes('?') ? `Good question, ${name}. A colleague comes.` : `Thank you, ${name}!`;
}

const handler = webhooks.nodeHandler(WEBHOOK_SECRET, async (event) => {
  if (event.event !== 'message.created' || event.data.message.senderType !== 'CUSTOMER') return;
  const { conversationId, message } = event.data;
  const body = answerTo(message.body, event.context?.contact?.name ?? 'dear customer');
  // An event can come twice. The key makes it one answer.
  await client.messages.send(conversationId, { body }, { idempotencyKey: `answer-to-${message.id}` });
});

const server = createServer(handler).listen(Number(PORT), () => {
  console.log('The assistant listens at', JSON.stringify(server.address()));
});
