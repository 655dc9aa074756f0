import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { LauncherError } from '../processes.mjs';
import { PHONE_NUMBER_PREFIX } from './simulators.mjs';
import { VisitorPage } from './visitor-page.mjs';

/**
 * A customer on one channel, with their phone or their page with the widget.
 *
 * @typedef {object} Customer
 * @property {string} channel
 * @property {string} question
 * @property {string} answer
 * @property {object} credentials of the workspace's account
 * @property {(connection: any) => Promise<void>} connected takes the result of `channel connect`
 * @property {(text: string) => Promise<void>} write
 * @property {() => { text: string }[]} received all messages that have arrived
 * @property {[status: string, send: (message: any) => Promise<void>][]} receipts of the provider for a received message, in
 *   this order
 * @property {string} [remark]
 */

/** Each run needs new accounts: those of earlier runs are still connected. */
const newId = (prefix = '') => `${prefix}${randomInt(10 ** 12, 10 ** 13)}`;

/**
 * @param {import('./simulators.mjs').Simulators} simulators
 * @param {string} shopOrigin of the page with the widget
 * @returns {Customer[]}
 */
export function makeCustomers({ telegram, whatsApp, messenger, instagram }, shopOrigin) {
  return [
    onWhatsApp(whatsApp),
    onTelegram(telegram),
    onMessenger(messenger),
    onInstagram(instagram),
    onWidget(shopOrigin),
  ];
}

/** @returns {Customer} */
function onWhatsApp(simulator) {
  const phoneNumberId = newId(PHONE_NUMBER_PREFIX);
  const phone = '33612345678';
  const { notify, ...shared } = onMeta(simulator, { phoneNumberId });
  const sendStatus = (status, message) =>
    notify(phoneNumberId, { statuses: [simulator.status(message, status)] });
  return {
    ...shared,
    channel: 'WHATSAPP',
    question: 'Hello, where is my order?',
    answer: 'Just a moment, please.',
    write: (text) =>
      notify(phoneNumberId, { messages: [simulator.message(phone, text)], name: 'Zoë Laurent' }),
    receipts: [
      ['DELIVERED', (message) => sendStatus('delivered', message)],
      ['READ', (message) => sendStatus('read', message)],
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
    write: (text) => requireOk(simulator.deliver(botToken, update(text))),
    received: () => simulator.sent,
    receipts: [],
    remark: 'Telegram has no receipts',
    anotherAccount: () => ({ botToken: newToken() }),
    /** Sends a customer's message as Telegram does. */
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
  const { notify, ...shared } = onMeta(simulator, { pageId });
  return {
    ...shared,
    channel: 'MESSENGER',
    question: 'Opening hours?',
    answer: 'Until six today.',
    write: (text) => notify(simulator.message(pageId, customerId, text)),
    receipts: [
      ['DELIVERED', ({ mid }) => notify(simulator.delivered(pageId, customerId, [mid]))],
      ['READ', () => notify(simulator.read(pageId, customerId))],
    ],
  };
}

/** @returns {Customer} */
function onInstagram(simulator) {
  const [accountId, customerId] = [newId('3'), newId()];
  const { notify, ...shared } = onMeta(simulator, { accountId });
  return {
    ...shared,
    channel: 'INSTAGRAM',
    question: 'Price? 😍',
    answer: '49 €, shipping included.',
    write: (text) => notify(simulator.message(accountId, customerId, text)),
    receipts: [['READ', ({ mid }) => notify(simulator.read(accountId, customerId, mid))]],
  };
}

/** @returns {Customer} */
function onWidget(origin) {
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
    received: () => page.received,
    receipts: ['DELIVERED', 'READ'].map((status) => [
      status,
      ({ id: messageId }) => page.post('receipts', { messageId, status }),
    ]),
  };
}

/** The common part of Meta's channels. */
function onMeta(simulator, account) {
  const credentials = { ...account, accessToken: newId(), appSecret: newId() };
  let url;
  return {
    credentials,
    connected: async (connection) => {
      url = connection.hookUrl;
      await shakeHands(simulator, connection);
    },
    received: () => simulator.sent,
    notify: (...content) =>
      requireOk(
        simulator.notify({ url, appSecret: credentials.appSecret }, simulator.notification(...content)),
      ),
  };
}

/** Meta's check of a new hook: the hook must return the challenge. */
async function shakeHands(simulator, { channel, hookUrl, reveal }) {
  const challenge = newId();
  const { status, body } = await simulator.handshake(hookUrl, reveal.verifyToken, challenge);
  if (status !== 200 || body !== challenge)
    throw new LauncherError(`The hook of ${channel} did not pass Meta's handshake: ${status} ${body}`);
}

/** @param {Promise<number>} responded the status that a hook returned to its provider */
async function requireOk(responded) {
  const status = await responded;
  if (status !== 200) throw new LauncherError(`A provider's call was answered with ${status}, not 200.`);
}
