import {
  customerIdsOf,
  HookEvent,
  InboundChange,
  InboundGroupMessage,
  InboundIds,
  InboundMessage,
  InboundReceipt,
} from '../hook-events';
import { requireAtMost } from '../hook-body';
import { lookUp, numberOf, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';
import { readGraphError } from './graph-api';
import { describeOrigin, describeWhatsApp } from './whatsapp-content';
import { readWhatsAppFile, withoutFileAddress } from './whatsapp-files';
import { readChangeOfIds, readRecipient, readSender, readTime, readUserIdUpdates } from './whatsapp-ids';

/** WhatsApp's error code for a message sent over 24 hours after the customer's last message. */
export const WINDOW_CODE = '131047';

/**
 * Field of a message in which the service sends its own id. WhatsApp repeats it in each status of the message
 * (developers.facebook.com/docs/whatsapp/cloud-api/reference/messages).
 */
export const WHATSAPP_OWN_ID = 'biz_opaque_callback_data';

/**
 * Reads all events of a request by WhatsApp, which can cover many phone numbers.
 * @throws AppError PAYLOAD_TOO_LARGE if there are more than `maxEvents`
 */
export function readNotification(body: unknown, maxEvents = Infinity): HookEvent[] {
  const changes = objectsOf(objectOf(body).entry).flatMap((entry) => objectsOf(entry.changes));
  const events: HookEvent[] = [];
  for (const { field, value } of requireAtMost(maxEvents, changes)) {
    if (field === 'messages') events.push(...readValue(objectOf(value), maxEvents));
    if (field === 'user_id_update') events.push(...readUserIdUpdates(objectOf(value)));
    requireAtMost(maxEvents, events);
  }
  return events;
}

function readValue(value: ProviderObject, maxEvents: number): HookEvent[] {
  const accountId = textOf(objectOf(value.metadata).phone_number_id);
  if (accountId === null) return [];
  const updates = requireAtMost(maxEvents, objectsOf(value.messages));
  const findSender = indexContacts(objectsOf(value.contacts), updates);
  const messages = updates.map((update) => readUpdate(accountId, update, findSender(update)));
  const statuses = requireAtMost(maxEvents, objectsOf(value.statuses)).map((status) =>
    readStatus(accountId, status),
  );
  return [...messages, ...statuses].filter((event) => event !== null);
}

/**
 * Reads an entry of `messages`, which can also be an edit, a group's message, or a system message. Returns
 * null for a system message that reports no new ids.
 */
function readUpdate(
  accountId: string,
  update: ProviderObject,
  contact: ProviderObject,
): InboundMessage | InboundChange | InboundIds | InboundGroupMessage | null {
  if (textOf(update.group_id) !== null) return { kind: 'group', accountId };
  if (update.type === 'system') return readChangeOfIds(accountId, update);
  const message = readMessage(accountId, update, contact);
  const isChange = update.type === 'edit' || update.type === 'revoke' || update.type === 'reaction';
  return message && isChange ? readChange(message, update) : message;
}

/** Reads an edit, an unsend or a reaction from a message. Only a reaction can be stored as a message. */
function readChange(message: InboundMessage, update: ProviderObject): InboundChange | null {
  const { original_message_id: edited, message: text } = objectOf(update.edit);
  const { message_id: reactedTo, emoji } = objectOf(update.reaction);
  const providerId = textOf(edited ?? objectOf(update.revoke).original_message_id ?? reactedTo);
  if (providerId === null) return null;
  const { accountId } = message;
  const about = { accountId, customerIds: customerIdsOf(message), providerId };
  const number = numberOf(update.timestamp);
  if (update.type === 'revoke') return { ...about, kind: 'unsend' };
  if (update.type === 'edit') {
    const content = objectOf(text);
    if (textOf(content.type) === null) return null;
    const { body, metadata, caption } = readContent(content);
    return { ...about, kind: 'edit', number, body, metadata, caption };
  }
  const given = textOf(emoji)?.trim() || null;
  const emojis = given === null ? [] : [given];
  return { ...about, kind: 'reaction', number, emojis, message: given === null ? null : message };
}

function readContent(
  message: ProviderObject,
): Pick<InboundMessage, 'body' | 'metadata' | 'files' | 'caption'> {
  const text = message.type === 'text' ? textOf(objectOf(message.text).body) : null;
  const origin = describeOrigin(message);
  const isPlain = text !== null && origin.length === 0;
  return {
    body: [text ?? describeWhatsApp(message), ...origin].join('\n'),
    metadata: isPlain ? null : withoutFileAddress(message),
    ...readWhatsAppFile(message),
  };
}

function readMessage(
  accountId: string,
  message: ProviderObject,
  contact: ProviderObject,
): InboundMessage | null {
  const id = textOf(message.id);
  const customer = readSender(message, contact);
  if (id === null || customer === null) return null;
  const at = readTime(message.timestamp) ?? undefined;
  return { kind: 'message', accountId, providerIds: [id], customer, at, ...readContent(message) };
}

/**
 * Returns a function that finds a message's sender. If a request names only one contact, it is the sender,
 * even if its id differs from the phone number, as in some countries.
 */
function indexContacts(
  contacts: ProviderObject[],
  messages: ProviderObject[],
): (message: ProviderObject) => ProviderObject {
  const byId = new Map<unknown, ProviderObject>();
  // If several contacts have the same id, the first is used.
  for (const contact of contacts.toReversed())
    for (const id of [contact.user_id, contact.wa_id]) if (id !== undefined) byId.set(id, contact);
  const senders = new Set(messages.map(({ from, from_user_id: userId }) => textOf(from) ?? textOf(userId)));
  const only = contacts.length === 1 && senders.size === 1 ? contacts[0]! : {};
  return ({ from, from_user_id: userId }) =>
    (from === undefined ? undefined : byId.get(from)) ?? byId.get(userId) ?? only;
}

const RECEIPTS: Record<string, InboundReceipt['status']> = {
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'READ',
  // The customer has played a voice message.
  played: 'READ',
  failed: 'FAILED',
};

function readStatus(accountId: string, given: ProviderObject): InboundReceipt | null {
  const providerId = textOf(given.id);
  const status = lookUp(RECEIPTS, textOf(given.status) ?? '');
  if (providerId === null || status === undefined) return null;
  const messageId = textOf(given[WHATSAPP_OWN_ID]);
  const fault = readFault(status, given);
  const recipientIds = readRecipient(given);
  const receipt = { kind: 'receipt' as const, accountId, providerId, messageId, status, fault };
  // A single id is left out, because it is the one to which the message was sent.
  return recipientIds.length > 1 ? { ...receipt, recipientIds } : receipt;
}

function readFault(status: InboundReceipt['status'], { errors }: ProviderObject): InboundReceipt['fault'] {
  if (status !== 'FAILED') return null;
  const fault = readGraphError(objectsOf(errors)[0] ?? {});
  return { ...fault, kind: fault.providerCode === WINDOW_CODE ? 'WINDOW' : 'TERMINAL' };
}
