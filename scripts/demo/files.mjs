import { readFileSync } from 'node:fs';
import { LauncherError, requireValue, sleep } from '../processes.mjs';
import { printRow, title } from './print.mjs';

/** @import { ConversationListItem, MessageResponse } from 'conversation-messaging-service' */
/** @import { Page, SentMessageResponse } from 'conversation-messaging-service' */
/** @import { Api } from './api.mjs' */
/** @import { Customer } from './customers.mjs' */

const WITHIN_MS = 30_000;
const POLL_MS = 100;
const COLUMNS = [11, 42, 40];
const HEADINGS = ['CHANNEL', 'CUSTOMER SENDS', 'AGENT ANSWERS WITH'];
const LABEL = readFileSync(new URL('return-label.pdf', import.meta.url));
/** States in which an attachment waits for no more bytes. */
const ENDS = ['READY', 'LINK_ONLY', 'FAILED'];

/** Picture that each customer sends. */
export const PARCEL = { name: 'parcel.jpg', bytes: readFileSync(new URL('parcel.jpg', import.meta.url)) };

/**
 * Lets the customer send a picture on every channel, and the workspace answer with a PDF.
 *
 * @param {Api} api
 * @param {Customer[]} customers
 */
export async function sendFilesOnAll(api, customers) {
  title('A parcel is damaged: customers send a picture on all five channels, and get a PDF');
  printRow(COLUMNS, HEADINGS);
  for (const customer of customers) await exchangeFiles(api, customer);
}

/**
 * @param {Api} api
 * @param {Customer} customer
 */
async function exchangeFiles(api, { channel, sendPicture }) {
  await sendPicture(PARCEL);
  /** @type {Page<ConversationListItem>} */
  const { data } = await api.send('GET', `/conversations?channel=${channel}&limit=1`);
  const { id } = requireValue(data[0], `conversation on ${channel}`);
  const path = `/conversations/${id}/messages`;
  const picture = await waitFor(`the picture on ${channel}`, async () => {
    const message = await find(api, path, ({ senderType, attachments }) => {
      return senderType === 'CUSTOMER' && attachments.length > 0;
    });
    const [attachment] = message?.attachments ?? [];
    return attachment && ENDS.includes(attachment.state) ? attachment : null;
  });
  if (picture.state === 'FAILED')
    throw new LauncherError(`The picture on ${channel} has not come: ${picture.problem}.`);

  const uploadId = await api.upload({ conversationId: id, name: 'return-label.pdf', content: LABEL });
  /** @type {SentMessageResponse} */
  const sent = await api.send('POST', path, { body: { attachments: [{ uploadId }] }, expect: 201 });
  const status = await waitFor(`the PDF on ${channel}`, async () => {
    const message = await find(api, path, (one) => one.id === sent.message.id);
    const { status, error } = requireValue(message, 'sent message').delivery;
    if (status === 'FAILED' || status === 'UNKNOWN')
      throw new LauncherError(`The PDF on ${channel} is ${status}: ${JSON.stringify(error)}.`);
    return status === 'QUEUED' || status === 'SENDING' ? null : status;
  });
  const { state, width, height, size } = picture;
  const shown = state === 'READY' ? `${width} × ${height}, ${size} bytes` : 'stays there, by its rules';
  printRow(COLUMNS, [channel, `parcel.jpg (${shown})`, `return-label.pdf: ${status}`]);
}

/**
 * @param {Api} api
 * @param {string} path of a conversation's messages
 * @param {(message: MessageResponse) => boolean} matches
 */
async function find(api, path, matches) {
  /** @type {Page<MessageResponse>} */
  const { data } = await api.send('GET', path);
  return data.find(matches);
}

/**
 * @template Value
 * @param {string} what
 * @param {() => Promise<Value | null>} look
 * @returns {Promise<Value>}
 */
async function waitFor(what, look) {
  for (const deadline = Date.now() + WITHIN_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new LauncherError(`Waited in vain for ${what}.`);
}
