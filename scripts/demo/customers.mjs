import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { LauncherError, requireValue } from '../processes.mjs';
import { newId, PHONE_NUMBER_PREFIX } from './simulators.mjs';
import { VisitorPage } from './visitor-page.mjs';

/** @import { Channel, ConnectedChannel } from 'conversation-messaging-service' */
/**
 * @import { InstagramSimulator, MessengerSimulator, Simulators, WhatsAppSimulator } from './simulators.mjs'
 */

const JPEG = 'image/jpeg';

/**
 * A message that has arrived at a customer, and the provider's receipts for it, in order.
 *
 * @typedef {object} Received
 * @property {string} text
 * @property {[status: string, send: () => Promise<unknown>][]} receipts
 */

/**
 * A customer on one channel, with their phone or their page with the widget.
 *
 * @typedef {object} Customer
 * @property {Channel} channel
 * @property {string} question
 * @property {string} answer
 * @property {object} credentials of the workspace's account
 * @property {(connection: ConnectedChannel) => Promise<void>} connected takes the result of `channel connect`
 * @property {(text: string) => Promise<unknown>} write
 * @property {(picture: Picture) => Promise<unknown>} sendPicture
 * @property {(person: Person, text: string) => Promise<unknown>} [writeAs] writes as another customer
 * @property {() => Received[]} received all messages that have arrived
 * @property {string} [remark]
 */

/**
 * A picture that a customer sends.
 *
 * @typedef {{ name: string, bytes: Buffer }} Picture
 */

/**
 * A further customer of a channel.
 *
 * @typedef {{ id: string, name: string, email?: string }} Person `id` is the channel's
 */

/**
 * Functions that only the customer on Telegram has.
 *
 * @typedef {object} TelegramExtras
 * @property {() => string} curl returns a command that sends a customer's message as Telegram does
 * @property {() => object} anotherAccount returns the credentials of another bot
 */

/** @typedef {ReturnType<typeof makeCustomers>} Customers */

/**
 * Makes a customer on each channel.
 *
 * @param {Simulators} simulators
 * @param {string} shopOrigin of the page with the widget
 */
export function makeCustomers(simulators, shopOrigin) {
  const whatsApp = onWhatsApp(simulators);
  const telegram = onTelegram(simulators);
  const widget = onWidget(shopOrigin);
  /** @type {Customer[]} */
  const all = [whatsApp, telegram, onMessenger(simulators), onInstagram(simulators.instagram), widget];
  return { all, whatsApp, telegram, widget };
}

/**
 * @param {Simulators} simulators
 * @returns {Customer}
 */
function onWhatsApp({ whatsApp: simulator, graphUrl }) {
  const phoneNumberId = newId(PHONE_NUMBER_PREFIX);
  const { notify, ...account } = onMeta(simulator, { phoneNumberId });
  const writeAs = (/** @type {Person} */ { id, name }, /** @type {string} */ text) =>
    notify(simulator.notification(phoneNumberId, { messages: [simulator.message(id, text)], name }));
  return {
    ...account,
    channel: 'WHATSAPP',
    question: 'Hello, where is my order?',
    answer: 'Just a moment, please.',
    write: (text) => writeAs({ id: '33612345678', name: 'Zoë Laurent' }, text),
    writeAs,
    sendPicture({ bytes }) {
      const mediaId = newId(PHONE_NUMBER_PREFIX);
      const path = `/v0/${mediaId}/file`;
      simulator.handedOut.set(path, { bytes, type: JPEG });
      simulator.customerMedia.set(mediaId, { id: mediaId, url: graphUrl + path, mime_type: JPEG });
      const image = { id: mediaId, mime_type: JPEG };
      const message = simulator.message('33612345678', '', { type: 'image', text: undefined, image });
      return notify(simulator.notification(phoneNumberId, { messages: [message], name: 'Zoë Laurent' }));
    },
    received: () =>
      simulator.sent.map((message) => {
        const sendStatus = (/** @type {'delivered' | 'read'} */ status) =>
          notify(simulator.notification(phoneNumberId, { statuses: [simulator.status(message, status)] }));
        return {
          text: message.text,
          receipts: [
            ['DELIVERED', () => sendStatus('delivered')],
            ['READ', () => sendStatus('read')],
          ],
        };
      }),
  };
}

/**
 * @param {Simulators} simulators
 * @returns {Customer & TelegramExtras}
 */
function onTelegram({ telegram: simulator, newBotToken }) {
  const botToken = newBotToken();
  const chatId = randomInt(10 ** 9, 10 ** 10);
  const from = { id: chatId, is_bot: false, first_name: 'Олена', last_name: 'Коваль' };
  const update = (/** @type {string} */ text) => simulator.textUpdate(chatId, text, { from });
  return {
    channel: 'TELEGRAM',
    question: 'Чи є це в наявності?',
    answer: 'Так, є.',
    credentials: { botToken },
    connected: () => Promise.resolve(),
    write: (text) => requireOk(simulator.deliver(botToken, update(text))),
    writeAs: ({ id, name }, text) => {
      const [first_name, last_name] = name.split(' ');
      const other = { from: { id: Number(id), is_bot: false, first_name, last_name } };
      return requireOk(simulator.deliver(botToken, simulator.textUpdate(Number(id), text, other)));
    },
    sendPicture({ name, bytes }) {
      const path = `/file/bot${botToken}/photos/${name}`;
      simulator.customerFiles.set(name, path);
      simulator.handedOut.set(path, { bytes, type: JPEG });
      const photo = [{ file_id: name, width: 1200, height: 900 }];
      return requireOk(simulator.deliver(botToken, simulator.update(chatId, { photo, from })));
    },
    received: () => simulator.sent.map(({ text }) => ({ text, receipts: [] })),
    remark: 'Telegram has no receipts',
    anotherAccount: () => ({ botToken: newBotToken() }),
    curl() {
      const webhook = requireValue(simulator.webhooks.get(botToken), 'webhook of the bot');
      const { url, secret_token: secret } = webhook;
      const body = JSON.stringify(update('Hello from curl'));
      return `curl -sw '%{http_code}\\n' ${url} -H 'content-type: application/json' -H 'x-telegram-bot-api-secret-token: ${secret}' -d '${body}'`;
    },
  };
}

/**
 * @param {Simulators} simulators
 * @returns {Customer}
 */
function onMessenger({ messenger: simulator, graphUrl }) {
  const [pageId, customerId] = [newId('2'), newId()];
  const { notify, ...account } = onMeta(simulator, { pageId });
  return {
    ...account,
    channel: 'MESSENGER',
    question: 'Opening hours?',
    answer: 'Until six today.',
    write: (text) => notify(simulator.notification(simulator.message(pageId, customerId, text))),
    sendPicture: (picture) =>
      notify(simulator.notification(pictureEvent(simulator, graphUrl, [pageId, customerId], picture))),
    received: () =>
      simulator.sent.map(({ mid, text }) => ({
        text,
        receipts: [
          ['DELIVERED', () => notify(simulator.notification(simulator.delivered(pageId, customerId, [mid])))],
          ['READ', () => notify(simulator.notification(simulator.read(pageId, customerId)))],
        ],
      })),
  };
}

/**
 * @param {InstagramSimulator} simulator
 * @returns {Customer}
 */
function onInstagram(simulator) {
  const [accountId, customerId] = [newId('3'), newId()];
  const { notify, ...account } = onMeta(simulator, { accountId });
  return {
    ...account,
    channel: 'INSTAGRAM',
    question: 'Price? 😍',
    answer: '49 €, shipping included.',
    write: (text) => notify(simulator.notification(simulator.message(accountId, customerId, text))),
    sendPicture: (picture) =>
      notify(
        simulator.notification(pictureEvent(simulator, simulator.url, [accountId, customerId], picture)),
      ),
    received: () =>
      simulator.sent.map(({ mid, text }) => ({
        text,
        receipts: [
          ['READ', () => notify(simulator.notification(simulator.read(accountId, customerId, mid)))],
        ],
      })),
  };
}

/**
 * @param {string} origin
 * @returns {Customer}
 */
function onWidget(origin) {
  /** @type {(person: Person) => Promise<VisitorPage>} */
  let open;
  /** @type {VisitorPage} */
  let page;
  /** @type {(page: VisitorPage, text: string) => Promise<unknown>} */
  const write = (on, body) => on.post('messages', { clientMessageId: randomUUID(), body });
  return {
    channel: 'WIDGET',
    question: 'Do you ship to Spain?',
    answer: 'Yes, within three days.',
    credentials: { allowedOrigins: [origin] },
    connected: async ({ hookUrl, reveal }) => {
      const secret = requireValue(reveal.identitySecret, 'identity secret');
      open = (person) => {
        const signature = createHmac('sha256', secret).update(person.id).digest('hex');
        return VisitorPage.open({ url: hookUrl, origin, visitor: { ...person, signature } });
      };
      page = await open({ id: 'customer-1042', name: 'Marco Rossi', email: 'marco@example.com' });
    },
    write: (text) => write(page, text),
    writeAs: async (person, text) => write(await open(person), text),
    sendPicture: (picture) => page.sendPicture(picture),
    received: () =>
      page.received.map(({ id: messageId, text }) => ({
        text,
        receipts: [
          ['DELIVERED', () => page.post('receipts', { messageId, status: 'DELIVERED' })],
          ['READ', () => page.post('receipts', { messageId, status: 'READ' })],
        ],
      })),
  };
}

/**
 * Makes the event of a customer's picture at Messenger or Instagram, and hands the picture out.
 *
 * @param {MessengerSimulator | InstagramSimulator} simulator
 * @param {string} origin from which the service fetches the picture
 * @param {[accountId: string, customerId: string]} parties
 * @param {Picture} picture
 */
function pictureEvent(simulator, origin, [accountId, customerId], { name, bytes }) {
  const path = `/files/${name}`;
  simulator.handedOut.set(path, { bytes, type: JPEG });
  const attachments = [{ type: 'image', payload: { url: origin + path } }];
  return simulator.message(accountId, customerId, '', { text: undefined, attachments });
}

/**
 * Makes what customers on Meta's three channels share: an account's credentials, and notifications to its
 * hook.
 *
 * @param {WhatsAppSimulator | MessengerSimulator | InstagramSimulator} simulator
 * @param {Record<string, string>} ids of the account
 */
function onMeta(simulator, ids) {
  const credentials = { ...ids, accessToken: newId(), appSecret: newId() };
  let url = '';
  return {
    credentials,
    connected: async (/** @type {ConnectedChannel} */ connection) => {
      url = connection.hookUrl;
      await shakeHands(simulator, connection);
    },
    notify: (/** @type {object} */ notification) =>
      requireOk(simulator.notify({ url, appSecret: credentials.appSecret }, notification)),
  };
}

/**
 * Checks a new hook as Meta does: the hook must return the challenge.
 *
 * @param {WhatsAppSimulator | MessengerSimulator | InstagramSimulator} simulator
 * @param {ConnectedChannel} connection
 */
async function shakeHands(simulator, { channel, hookUrl, reveal }) {
  const challenge = newId();
  const verifyToken = requireValue(reveal.verifyToken, 'verify token');
  const { status, body } = await simulator.handshake(hookUrl, verifyToken, challenge);
  if (status !== 200 || body !== challenge)
    throw new LauncherError(`The hook of ${channel} did not pass Meta's handshake: ${status} ${body}`);
}

/** @param {Promise<number>} responded the status that a hook returned to its provider */
async function requireOk(responded) {
  const status = await responded;
  if (status !== 200) throw new LauncherError(`A provider's call was answered with ${status}, not 200.`);
}
