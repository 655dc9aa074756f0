import { LauncherError, messageOf, sleep } from '../processes.mjs';
import { note, printRow, title } from './print.mjs';

/** @import { ConversationListItem, MessageResponse } from 'conversation-messaging-service' */
/** @import { Page, SentMessageResponse } from 'conversation-messaging-service' */
/** @import { Api } from './api.mjs' */
/** @import { Customer, Received } from './customers.mjs' */

/**
 * Ids of a customer's stored message and of its conversation.
 *
 * @typedef {{ conversationId: string, messageId: string }} Written
 */

const COLUMNS = [11, 27, 11, 26, 11];
const HEADINGS = ['CHANNEL', 'CUSTOMER WRITES', 'STORED AS', 'OUTBOUND MESSAGE', 'STORED AS', 'STATUS'];
const WITHIN_MS = 20_000;
const POLL_MS = 100;
const STUCK = ['FAILED', 'UNKNOWN'];

/**
 * Lets the customer write on every channel, the workspace answer, and the provider send receipts.
 *
 * @param {Api} api
 * @param {Customer[]} customers
 * @returns {Promise<Map<string, Written>>} the customers' messages by channel
 */
export async function converseOnAll(api, customers) {
  title('Customers write on all five channels, and get answers');
  printRow(COLUMNS, HEADINGS);
  /** @type {Map<string, Written>} */
  const written = new Map();
  for (const customer of customers) written.set(customer.channel, await converse(api, customer));
  return written;
}

/**
 * @param {Api} api
 * @param {Customer} customer
 * @returns {Promise<Written>}
 */
async function converse(api, customer) {
  const { channel, question, answer, remark } = customer;
  await customer.write(question);
  const { conversation, message } = await findStored(api, customer);
  const path = `/conversations/${conversation.id}/messages`;
  /** @type {SentMessageResponse} */
  const sent = await api.send('POST', path, { body: { body: answer }, expect: 201 });
  const { id } = sent.message;

  /** @type {(string | null)[]} */
  const seen = [sent.message.delivery.status];
  const reach = async (/** @type {string} */ status) => {
    const deadline = Date.now() + WITHIN_MS;
    while (seen.at(-1) !== status) {
      /** @type {Page<MessageResponse>} */
      const { data } = await api.send('GET', path);
      const delivery = data.find((candidate) => candidate.id === id)?.delivery;
      if (delivery && delivery.status !== seen.at(-1)) seen.push(delivery.status);
      else if (!delivery || STUCK.includes(delivery.status ?? '') || Date.now() > deadline)
        throw notReached(channel, status, delivery);
      else await sleep(POLL_MS);
    }
  };
  await reach('SENT');
  const { receipts } = await findReceived(customer);
  for (const [status, sendReceipt] of receipts) {
    await sendReceipt();
    await reach(status);
  }
  const progress = seen.join(' → ') + (remark ? `  (${remark})` : '');
  printRow(COLUMNS, [channel, question, short(message.id), answer, short(id), progress]);
  return { conversationId: conversation.id, messageId: message.id };
}

/**
 * Finds a customer's message, which must be stored: the hook has answered 200.
 *
 * @param {Api} api
 * @param {Customer} customer
 */
async function findStored(api, { channel, question }) {
  /** @type {Page<ConversationListItem>} */
  const { data: conversations } = await api.send('GET', `/conversations?channel=${channel}&limit=1`);
  const [conversation] = conversations;
  /** @type {Page<MessageResponse> | undefined} */
  const page = conversation && (await api.send('GET', `/conversations/${conversation.id}/messages`));
  const message = page?.data.find(({ senderType, body }) => senderType === 'CUSTOMER' && body === question);
  if (!conversation || !message)
    throw new LauncherError(`What the customer wrote on ${channel} is not stored.`);
  return { conversation, message };
}

/**
 * Waits for the message at the customer's end. Exactly one must arrive.
 *
 * @param {Customer} customer
 */
async function findReceived({ channel, answer, received }) {
  const deadline = Date.now() + WITHIN_MS;
  while (received().length === 0 && Date.now() < deadline) await sleep(POLL_MS);
  const [first, ...others] = received();
  if (first?.text === answer && others.length === 0) return first;
  const texts = received().map(({ text }) => text);
  throw new LauncherError(`The customer on ${channel} got ${JSON.stringify(texts)}, not the one answer.`);
}

/**
 * @param {string} channel
 * @param {string} status
 * @param {unknown} delivery
 */
function notReached(channel, status, delivery) {
  return new LauncherError(`The answer on ${channel} is not ${status} but ${JSON.stringify(delivery)}.`);
}

/**
 * Returns the end of an id: ids of the same second begin alike.
 *
 * @param {string} id
 */
const short = (id) => `…${id.slice(-8)}`;

/**
 * Shows each message that a customer receives, and sends its receipts. Never returns.
 *
 * @param {Customer[]} customers
 * @param {(customer: Customer, text: string) => void} onMessage
 * @returns {Promise<never>}
 */
export async function acknowledgeMessages(customers, onMessage) {
  const all = customers.map((customer) => ({ customer, seen: customer.received().length }));
  for (;;) {
    for (const each of all) {
      for (const message of each.customer.received().slice(each.seen)) {
        each.seen += 1;
        onMessage(each.customer, message.text);
        await acknowledge(message);
      }
    }
    await sleep(POLL_MS);
  }
}

/** @param {Received} message */
async function acknowledge({ receipts }) {
  try {
    for (const [, sendReceipt] of receipts) await sendReceipt();
  } catch (error) {
    note(`Its receipts were refused: ${messageOf(error)}`); // the channel may be disconnected by now
  }
}
