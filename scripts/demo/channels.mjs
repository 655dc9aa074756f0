import { LauncherError, sleep } from '../processes.mjs';
import { note, printRow, title } from './print.mjs';

const COLUMNS = [11, 27, 11, 26, 11];
const HEADINGS = ['CHANNEL', 'CUSTOMER WRITES', 'STORED AS', 'REPLY', 'STORED AS', 'ITS DELIVERY'];
const WITHIN_MS = 20_000;
const POLL_MS = 100;
const STUCK = ['FAILED', 'UNKNOWN'];

/**
 * On every channel: the customer writes, the workspace answers, the provider tells how far the answer has come.
 *
 * @param {import('./api.mjs').Api} api
 * @param {import('./customers.mjs').Customer[]} customers
 * @returns {Promise<Record<string, { conversationId: string, messageId: string }>>} by channel: what the customer wrote
 */
export async function converseOnAll(api, customers) {
  title('Customers write on all five channels, and get their answers');
  printRow(COLUMNS, HEADINGS);
  const written = {};
  for (const customer of customers) written[customer.channel] = await converse(api, customer);
  return written;
}

async function converse(api, customer) {
  const { channel, question, answer, receipts, remark } = customer;
  await customer.write(question);
  const { conversation, message } = await findStored(api, customer);
  const path = `/conversations/${conversation.id}/messages`;
  const sent = await api.send('POST', path, { body: { body: answer }, expect: 201 });
  const { id } = sent.message;

  const seen = [sent.message.delivery.status];
  const reach = async (/** @type {string} */ status) => {
    const deadline = Date.now() + WITHIN_MS;
    while (seen.at(-1) !== status) {
      const { data } = await api.send('GET', path);
      const { delivery } = data.find((candidate) => candidate.id === id);
      if (delivery.status !== seen.at(-1)) seen.push(delivery.status);
      else if (STUCK.includes(delivery.status) || Date.now() > deadline)
        throw notReached(channel, status, delivery);
      else await sleep(POLL_MS);
    }
  };
  await reach('SENT');
  const reply = await arrival(customer);
  for (const [status, tell] of receipts) {
    await tell(reply);
    await reach(status);
  }
  const progress = seen.join(' → ') + (remark ? `  (${remark})` : '');
  printRow(COLUMNS, [channel, question, short(message.id), answer, short(id), progress]);
  return { conversationId: conversation.id, messageId: message.id };
}

/** The provider's call was answered with 200, so it must be there. */
async function findStored(api, { channel, question }) {
  const { data: conversations } = await api.send('GET', `/conversations?channel=${channel}&limit=1`);
  const [conversation] = conversations;
  const { data } = conversation
    ? await api.send('GET', `/conversations/${conversation.id}/messages`)
    : { data: [] };
  const message = data.find(({ senderType, body }) => senderType === 'CUSTOMER' && body === question);
  if (!message) throw new LauncherError(`What the customer wrote on ${channel} is not stored.`);
  return { conversation, message };
}

/** What has come to the customer's end: exactly one reply, and the right one. */
async function arrival({ channel, answer, replies }) {
  const deadline = Date.now() + WITHIN_MS;
  while (replies().length === 0 && Date.now() < deadline) await sleep(POLL_MS);
  const texts = replies().map(({ text }) => text);
  if (texts.length === 1 && texts[0] === answer) return replies()[0];
  throw new LauncherError(`The customer on ${channel} got ${JSON.stringify(texts)}, not the one answer.`);
}

function notReached(channel, status, delivery) {
  return new LauncherError(`The answer on ${channel} is not ${status} but ${JSON.stringify(delivery)}.`);
}

/** Ids made in the same second begin alike. */
const short = (/** @type {string} */ id) => `…${id.slice(-8)}`;

/**
 * Stands in for the customers from now on, without end: shows each reply that arrives, and has it read.
 *
 * @param {import('./customers.mjs').Customer[]} customers
 * @param {(customer: import('./customers.mjs').Customer, text: string) => void} onReply
 */
export async function attend(customers, onReply) {
  const seen = new Map(customers.map((customer) => [customer, customer.replies().length]));
  for (;;) {
    for (const customer of customers) {
      for (const reply of customer.replies().slice(seen.get(customer))) {
        seen.set(customer, seen.get(customer) + 1);
        onReply(customer, reply.text);
        await acknowledge(customer, reply);
      }
    }
    await sleep(POLL_MS);
  }
}

async function acknowledge({ receipts }, reply) {
  try {
    for (const [, tell] of receipts) await tell(reply);
  } catch (error) {
    note(`its receipts were not taken: ${error.message}`); // whoever plays with it may have disconnected the channel
  }
}
