// An assistant that answers each message of a customer, once.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { MessagingClient, webhooks } from '@conversation-messaging/client';

const { MESSAGING_URL = '', MESSAGING_API_KEY = '', WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const { SENDER_AGENT_ID: senderAgentId, TLS_CERT, TLS_KEY = '' } = process.env;
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
  const once = { idempotencyKey: `answer-to-${message.id}` };
  await client.messages.send(conversationId, { body, senderAgentId }, once);
});

const tls = TLS_CERT && { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
const server = tls ? https.createServer(tls, handler) : http.createServer(handler);
server.listen(Number(PORT), () => console.log('It listens at', JSON.stringify(server.address())));
