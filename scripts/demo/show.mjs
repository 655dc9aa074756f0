import { randomUUID } from 'node:crypto';
import { LauncherError, requireValue, sleep } from '../processes.mjs';
import { converseOnAll } from './channels.mjs';
import { sendFilesOnAll } from './files.mjs';
import { dim, printDelivery, title } from './print.mjs';

/** @import { EventData, EventType } from 'conversation-messaging-service' */
/** @import { SentMessageResponse, WebhookTestResult } from 'conversation-messaging-service' */
/** @import { Api } from './api.mjs' */
/** @import { Customer } from './customers.mjs' */
/** @import { Receiver } from './receiver.mjs' */
/** @import { Cli, Made } from './workspace.mjs' */

const WITHIN_MS = 15_000;
const POLL_MS = 50;

/**
 * Shows the main use case, step by step. Throws at the first wrong result.
 *
 * @param {Pick<Made, 'bot' | 'endpoint'> & { api: Api, customers: Customer[], receiver: Receiver, cli: Cli }}
 *   options
 */
export async function show({ api, customers, bot, endpoint, receiver, cli }) {
  const written = await converseOnAll(api, customers);

  await sendFilesOnAll(api, customers);

  title('Each of these messages was also delivered as a webhook, such as the one from WhatsApp:');
  const { conversationId: id, messageId } = requireValue(written.get('WHATSAPP'), 'message on WhatsApp');
  await arrived(receiver, 'message.created', ({ message }) => message.id === messageId);

  title('Who am I?');
  await api.show('GET', '/me');

  title('The conversations, newest first, two on a page, and one with its contact');
  await api.show('GET', '/conversations?limit=2');
  await api.show('GET', `/conversations/${id}`);

  title('The bot answers on WhatsApp');
  const answer = {
    headers: { 'Idempotency-Key': randomUUID() },
    body: { body: 'It is on its way and arrives tomorrow. 📦', senderAgentId: bot.id },
    expect: 201,
  };
  /** @type {SentMessageResponse} */
  const sent = await api.show('POST', `/conversations/${id}/messages`, answer);
  await arrived(receiver, 'message.created', ({ message }) => message.id === sent.message.id);

  title('The same request again, as after a lost connection: nothing is sent twice');
  /** @type {SentMessageResponse} */
  const again = await api.show('POST', `/conversations/${id}/messages`, answer);
  if (again.message.id !== sent.message.id)
    throw new LauncherError('A repeated request made a second message.');
  await arrivedAt(customers, 'WHATSAPP', answer.body.body);
  await api.show('GET', `/conversations/${id}/messages`);

  title('Solved: the conversation is closed');
  await api.show('PATCH', `/conversations/${id}`, { body: { status: 'CLOSED' } });
  await arrived(
    receiver,
    'conversation.updated',
    (data) => data.conversationId === id && 'status' in data && data.status === 'CLOSED',
  );

  title('Contacts, searched by name, e-mail or phone');
  await api.show('GET', `/contacts?q=${encodeURIComponent('zoë')}`);

  title('The dashboard’s "Test" button');
  /** @type {WebhookTestResult} */
  const test = await cli('webhook', 'test', '--id', endpoint.id);
  console.log(dim(`  the receiver answered ${test.status} after ${test.elapsedMs} ms`));
  await arrived(receiver, 'webhook.test', (data) => data.test === true);

  title('Enterprise workspaces also get their audit log as webhooks: here, the use of the button');
  await arrived(receiver, 'audit.event', ({ action }) => action === 'webhook_endpoint.tested');
}

/**
 * Waits for an outbound message at the customer's end.
 *
 * @param {Customer[]} customers
 * @param {string} channel
 * @param {string} text
 */
async function arrivedAt(customers, channel, text) {
  const on = customers.filter((customer) => customer.channel === channel);
  const count = () =>
    on.flatMap(({ received }) => received()).filter((message) => message.text === text).length;
  const deadline = Date.now() + WITHIN_MS;
  while (count() === 0 && Date.now() < deadline) await sleep(POLL_MS);
  if (count() !== 1) throw new LauncherError(`The customer on ${channel} got the message ${count()} times.`);
  console.log(dim(`\n  the customer on ${channel} got it once`));
}

/**
 * Waits for a webhook, and prints it with the check of its signatures.
 *
 * @template {EventType} Type
 * @param {Receiver} receiver
 * @param {Type} event
 * @param {(data: EventData<Type>) => boolean} matches
 */
async function arrived(receiver, event, matches) {
  const delivery = await receiver.received((body) => body.event === event && matches(body.data));
  if (!delivery) throw new LauncherError(`The webhook ${event} did not arrive.`);
  console.log();
  printDelivery(delivery);
  if (!delivery.verified || !delivery.verifiedByLibrary) {
    throw new LauncherError(`The webhook ${event} came with a signature that does not match.`);
  }
}
