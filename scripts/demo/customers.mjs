import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { LauncherError } from '../processes.mjs';
import { PHONE_NUMBER_PREFIX } from './simulators.mjs';
import { VisitorPage } from './visitor-page.mjs';

/**
 * A customer on one channel, and what is at their end of it: a phone, or a page with the widget.
 *
 * @typedef {object} Customer
 * @property {string} channel
 * @property {string} question what they ask
 * @property {string} answer what they get for it
 * @property {object} credentials what the workspace's account is connected with
 * @property {(connection: any) => Promise<void>} connected takes what connecting has revealed
 * @property {(text: string) => Promise<void>} write
 * @property {() => { text: string }[]} replies all that has arrived at their end
 * @property {[status: string, tell: (reply: any) => Promise<void>][]} receipts what the provider tells of a reply
 *   afterwards, in this order
 * @property {string} [remark]
 */

/** Accounts are new in each run: earlier ones have left theirs in the database, still connected. */
const newId = (prefix = '') => `${prefix}${randomInt(10 ** 12, 10 ** 13)}`;

/**
 * One on each channel.
 *
 * @param {import('./simulators.mjs').Simulators} simulators
 * @returns {Customer[]}
 */
export function makeCustomers({ telegram, whatsApp, messenger, instagram }) {
  return [
    onWhatsApp(whatsApp),
    onTelegram(telegram),
    onMessenger(messenger),
    onInstagram(instagram),
    onWidget(),
  ];
}

/** @returns {Customer} */
function onWhatsApp(simulator) {
  const phoneNumberId = newId(PHONE_NUMBER_PREFIX);
  const phone = '33612345678';
  const { tell, ...shared } = onMeta(simulator, { phoneNumberId });
  const tellOf = (status, reply) => tell(phoneNumberId, { statuses: [simulator.status(reply, status)] });
  return {
    ...shared,
    channel: 'WHATSAPP',
    question: 'Hello, where is my order?',
    answer: 'Just a moment, please.',
    write: (text) => tell(phoneNumberId, { messages: [simulator.message(phone, text)], name: 'Zoë Laurent' }),
    receipts: [
      ['DELIVERED', (reply) => tellOf('delivered', reply)],
      ['READ', (reply) => tellOf('read', reply)],
    ],
  };
}

/** @returns {Customer & { curl: string, anotherAccount: () => object }} */
function onTelegram(simulator) {
  const newToken = () => simulator.constructor.token(newId());
  const botToken = newToken();
  const chatId = randomInt(10 ** 9, 10 ** 10);
  const from = { id: chatId, is_bot: false, first_name: 'Олена', last_name: 'Коваль' };
  const update = (text) => simulator.textUpdate(chatId, text, { from });
  return {
    channel: 'TELEGRAM',
    question: 'Чи є це в наявності?',
    answer: 'Так, є.',
    credentials: { botToken },
    connected: async () => undefined,
    write: (text) => taken(simulator.deliver(botToken, update(text))),
    replies: () => simulator.sent,
    receipts: [],
    remark: 'Telegram tells no more',
    anotherAccount: () => ({ botToken: newToken() }),
    /** What its customer writes, as Telegram would bring it. */
    get curl() {
      const { url, secret_token: secret } = simulator.webhooks.get(botToken);
      const body = JSON.stringify(update('Hello from curl'));
      return `curl -sw '%{http_code}\\n' ${url} -H 'content-type: application/json' -H 'x-telegram-bot-api-secret-token: ${secret}' -d '${body}'`;
    },
  };
}

/** @returns {Customer} */
function onMessenger(simulator) {
  const [pageId, customerId] = [newId('2'), newId()];
  const { tell, ...shared } = onMeta(simulator, { pageId });
  return {
    ...shared,
    channel: 'MESSENGER',
    question: 'Opening hours?',
    answer: 'Until six today.',
    write: (text) => tell(simulator.message(pageId, customerId, text)),
    receipts: [
      ['DELIVERED', ({ mid }) => tell(simulator.delivered(pageId, customerId, [mid]))],
      ['READ', () => tell(simulator.read(pageId, customerId))],
    ],
  };
}

/** @returns {Customer} */
function onInstagram(simulator) {
  const [accountId, customerId] = [newId('3'), newId()];
  const { tell, ...shared } = onMeta(simulator, { accountId });
  return {
    ...shared,
    channel: 'INSTAGRAM',
    question: 'Price? 😍',
    answer: '49 €, shipping included.',
    write: (text) => tell(simulator.message(accountId, customerId, text)),
    receipts: [['READ', ({ mid }) => tell(simulator.read(accountId, customerId, mid))]],
  };
}

/** @returns {Customer} */
function onWidget() {
  const origin = 'https://shop.example';
  const id = 'customer-1042';
  /** @type {VisitorPage} */
  let page;
  return {
    channel: 'WIDGET',
    question: 'Do you ship to Spain?',
    answer: 'Yes, within three days.',
    credentials: { allowedOrigins: [origin] },
    connected: async ({ hookUrl, reveal }) => {
      const signature = createHmac('sha256', reveal.identitySecret).update(id).digest('hex');
      const visitor = { id, signature, name: 'Marco Rossi', email: 'marco@example.com' };
      page = await VisitorPage.open({ url: hookUrl, origin, visitor });
    },
    write: (text) => page.post('messages', { clientMessageId: randomUUID(), body: text }),
    replies: () => page.replies,
    receipts: ['DELIVERED', 'READ'].map((status) => [
      status,
      ({ id: messageId }) => page.post('receipts', { messageId, status }),
    ]),
  };
}

/** What customers on Meta's channels share: an account whose hook is set, and `tell`, which notifies the hook. */
function onMeta(simulator, account) {
  const credentials = { ...account, accessToken: newId(), appSecret: newId() };
  let url;
  return {
    credentials,
    connected: async (connection) => {
      url = connection.hookUrl;
      await shakeHands(simulator, connection);
    },
    replies: () => simulator.sent,
    tell: (...what) =>
      taken(simulator.notify({ url, appSecret: credentials.appSecret }, simulator.notification(...what))),
  };
}

/** What Meta does when an app's owner enters a hook: it must answer with the challenge. */
async function shakeHands(simulator, { channel, hookUrl, reveal }) {
  const challenge = newId();
  const { status, body } = await simulator.handshake(hookUrl, reveal.verifyToken, challenge);
  if (status !== 200 || body !== challenge)
    throw new LauncherError(`The hook of ${channel} did not pass Meta's handshake: ${status} ${body}`);
}

/** @param {Promise<number>} answered what a hook has answered to its provider */
async function taken(answered) {
  const status = await answered;
  if (status !== 200) throw new LauncherError(`A provider's call was answered with ${status}, not 200.`);
}
