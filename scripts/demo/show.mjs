import { randomUUID } from 'node:crypto';
import { LauncherError } from '../processes.mjs';
import { dim, printAnswer, printDelivery, printRequest, title } from './print.mjs';

const INTERESTING_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining'];

/**
 * The main job, step by step. Throws at the first thing that is not as it should be.
 *
 * @param {object} options
 * @param {string} options.apiUrl
 * @param {string} options.key
 * @param {any[]} options.conversations
 * @param {any} options.bot
 * @param {any} options.endpoint
 * @param {import('./receiver.mjs').Receiver} options.receiver
 * @param {(...args: string[]) => Promise<any>} options.cli
 */
export async function show({ apiUrl, key, conversations, bot, endpoint, receiver, cli }) {
  const call = (/** @type {string} */ method, /** @type {string} */ path, options) =>
    callApi({ apiUrl, key, method, path, ...options });
  const [{ id }] = conversations;

  title('A customer writes on WhatsApp');
  const inbound = await cli(
    'message',
    'receive',
    '--conversation',
    id,
    '--body',
    'Hello, where is my order?',
  );
  await arrived(receiver, 'message.created', ({ message }) => message.id === inbound.id);

  title('Who am I?');
  await call('GET', '/me');

  title('The conversations, newest first, two on a page, and one with its contact');
  await call('GET', '/conversations?limit=2');
  await call('GET', `/conversations/${id}`);

  title('The bot answers');
  const answer = {
    headers: { 'Idempotency-Key': randomUUID() },
    body: { body: 'It is on its way and arrives tomorrow. 📦', senderAgentId: bot.id },
    expect: 201,
  };
  const sent = await call('POST', `/conversations/${id}/messages`, answer);
  await arrived(receiver, 'message.created', ({ message }) => message.id === sent.message.id);

  title('The same request again, as after a lost connection: nothing is sent twice');
  const again = await call('POST', `/conversations/${id}/messages`, answer);
  if (again.message.id !== sent.message.id)
    throw new LauncherError('A repeated request made a second message.');
  await call('GET', `/conversations/${id}/messages`);

  title('Solved: the conversation is closed');
  await call('PATCH', `/conversations/${id}`, { body: { status: 'CLOSED' } });
  await arrived(
    receiver,
    'conversation.updated',
    ({ conversationId, status }) => conversationId === id && status === 'CLOSED',
  );

  title('Contacts, searched by name, e-mail or phone');
  await call('GET', `/contacts?q=${encodeURIComponent('zoë')}`);

  title('The dashboard’s "Test" button');
  const test = await cli('webhook', 'test', '--id', endpoint.id);
  console.log(dim(`  the receiver answered ${test.status} after ${test.elapsedMs} ms`));
  await arrived(receiver, 'webhook.test', (data) => data.test === true);

  title('Enterprise workspaces get their audit log as well: here, that the button was pressed');
  await arrived(receiver, 'audit.event', ({ action }) => action === 'webhook_endpoint.tested');
}

/** Sends one request and prints it with its answer. */
async function callApi({ apiUrl, key, method, path, headers, body, expect = 200 }) {
  printRequest({ method, path: `/api/v1${path}`, headers, body });
  const response = await fetch(apiUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  printAnswer({
    status: response.status,
    headers: INTERESTING_HEADERS.filter((name) => response.headers.has(name)).map(
      (name) => `${name}: ${response.headers.get(name)}`,
    ),
    body: answer,
  });
  if (response.status !== expect) {
    throw new LauncherError(`${method} ${path} was answered with ${response.status}, not ${expect}.`);
  }
  return answer;
}

/** Waits for a webhook and prints it with the verdict on its signatures. */
async function arrived(receiver, event, matches) {
  const delivery = await receiver.received((body) => body.event === event && matches(body.data));
  if (!delivery) throw new LauncherError(`The webhook ${event} did not arrive.`);
  console.log();
  printDelivery(delivery);
  if (!delivery.verified || !delivery.verifiedByLibrary) {
    throw new LauncherError(`The webhook ${event} came with a signature that does not match.`);
  }
}
