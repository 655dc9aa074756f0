import { LauncherError, sleep } from '../processes.mjs';
import { note, printRow, title } from './print.mjs';

const COLUMNS = [11, 27, 11, 26, 11];
const HEADINGS = ['CHANNEL', 'CUSTOMER WRITES', 'STORED AS', 'OUTBOUND MESSAGE', 'STORED AS', 'STATUS'];
const WITHIN_MS = 20_000;
const POLL_MS = 100;
const STUCK = ['FAILED', 'UNKNOWN'];

/**
 * On every channel: the customer writes, the workspace answers, and the provider sends receipts.
 *
 * @param {import('./api.mjs').Api} api
 * @param {import('./customers.mjs').Customer[]} customers
 * @returns {Promise<Record<string, { conversationId: string, messageId: string }>>} by channel: the customer's message
 */
export async function converseOnAll(api, customers) {
  title('Customers write on all five channels, and get answers');
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
  const reach = async (status) => {
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
  const received = await findReceived(customer);
  for (const [status, sendReceipt] of receipts) {
    await sendReceipt(received);
    await reach(status);
  }
  const progress = seen.join(' → ') + (remark ? `  (${remark})` : '');
  printRow(COLUMNS, [channel, question, short(message.id), answer, short(id), progress]);
  return { conversationId: conversation.id, messageId: message.id };
}

/** The hook has answered 200, so the message must be stored. */
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

/** Waits for the message at the customer's end. Exactly one must arrive. */
async function findReceived({ channel, answer, received }) {
  const deadline = Date.now() + WITHIN_MS;
  while (received().length === 0 && Date.now() < deadline) await sleep(POLL_MS);
  const texts = received().map(({ text }) => text);
  if (texts.length === 1 && texts[0] === answer) return received()[0];
  throw new LauncherError(`The customer on ${channel} got ${JSON.stringify(texts)}, not the one answer.`);
}

function notReached(channel, status, delivery) {
  return new LauncherError(`The answer on ${channel} is not ${status} but ${JSON.stringify(delivery)}.`);
}

/** Ids made in the same second begin alike. */
const short = (id) => `…${id.slice(-8)}`;

/**
 * Shows each message that a customer receives, and sends its receipts. Never returns.
 *
 * @param {import('./customers.mjs').Customer[]} customers
 * @param {(customer: import('./customers.mjs').Customer, text: string) => void} onMessage
 */
export async function acknowledgeMessages(customers, onMessage) {
  const seen = new Map(customers.map((customer) => [customer, customer.received().length]));
  for (;;) {
    for (const customer of customers) {
      for (const message of customer.received().slice(seen.get(customer))) {
        seen.set(customer, seen.get(customer) + 1);
        onMessage(customer, message.text);
        await acknowledge(customer, message);
      }
    }
    await sleep(POLL_MS);
  }
}

async function acknowledge({ receipts }, message) {
  try {
    for (const [, sendReceipt] of receipts) await sendReceipt(message);
  } catch (error) {
    note(`Its receipts were refused: ${error.message}`); // the channel may be disconnected by now
  }
}
