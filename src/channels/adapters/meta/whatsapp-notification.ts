import { InboundEvent, InboundMessage, InboundReceipt } from '../channel-adapter';
import { requireAtMost } from '../support/hook-body';
import {
  coordinates,
  lookUp,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../support/provider-values';
import { readGraphError } from './graph-api';

/**
 * Error code of WhatsApp when the customer's last message is more than 24 hours old. Answers and statuses can
 * hold it.
 */
export const WINDOW_CODE = '131047';

/**
 * Field of a message that carries the service's id. WhatsApp returns it in each of the message's statuses
 * (developers.facebook.com/docs/whatsapp/cloud-api/reference/messages).
 */
export const WHATSAPP_OWN_ID = 'biz_opaque_callback_data';

/**
 * Reads all messages and statuses of a notification, which can cover many numbers.
 * @throws AppError PAYLOAD_TOO_LARGE
 */
export function readNotification(body: unknown, maxEvents = Infinity): InboundEvent[] {
  const changes = objectsOf(objectOf(body).entry).flatMap((entry) => objectsOf(entry.changes));
  const events: InboundEvent[] = [];
  for (const { field, value } of requireAtMost(maxEvents, changes)) {
    if (field !== 'messages') continue;
    events.push(...readValue(objectOf(value), maxEvents));
    requireAtMost(maxEvents, events);
  }
  return events;
}

function readValue(value: ProviderObject, maxEvents: number): InboundEvent[] {
  const accountId = textOf(objectOf(value.metadata).phone_number_id);
  if (accountId === null) return [];
  const findSender = indexContacts(objectsOf(value.contacts));
  const messages = requireAtMost(maxEvents, objectsOf(value.messages)).map((message) =>
    readMessage(accountId, message, findSender(message)),
  );
  const statuses = requireAtMost(maxEvents, objectsOf(value.statuses)).map((status) =>
    readStatus(accountId, status),
  );
  return [...messages, ...statuses].filter((event) => event !== null);
}

/**
 * Reads a customer's message. A customer who hides their phone number has an id known to this business only.
 */
function readMessage(
  accountId: string,
  message: ProviderObject,
  contact: ProviderObject,
): InboundMessage | null {
  const id = textOf(message.id);
  const phone = textOf(message.from);
  const externalId = phone ?? textOf(message.from_user_id) ?? textOf(contact.user_id);
  if (id === null || externalId === null) return null;
  const text = message.type === 'text' ? textOf(objectOf(message.text).body) : null;
  const profile = objectOf(contact.profile);
  return {
    kind: 'message',
    accountId,
    providerIds: [id],
    customer: {
      externalId,
      name: textOf(profile.name) ?? textOf(profile.username),
      phone: phone && `+${phone.replace(/^\+/, '')}`,
    },
    body: text ?? describe(message),
    metadata: text === null ? message : null,
  };
}

/**
 * Returns a function that finds the contact who sent a message. A single contact is the sender, even if its
 * id differs from the phone number, as in some countries.
 */
function indexContacts(contacts: ProviderObject[]): (message: ProviderObject) => ProviderObject {
  const byId = new Map<unknown, ProviderObject>();
  // The first of several with one id.
  for (const contact of contacts.toReversed())
    for (const id of [contact.user_id, contact.wa_id]) if (id !== undefined) byId.set(id, contact);
  const only = contacts.length === 1 ? contacts[0]! : {};
  return ({ from, from_user_id: userId }) =>
    (from === undefined ? undefined : byId.get(from)) ?? byId.get(userId) ?? only;
}

const RECEIPTS: Record<string, InboundReceipt['status']> = {
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'READ',
  // A voice message was played.
  played: 'READ',
  failed: 'FAILED',
};

function readStatus(accountId: string, given: ProviderObject): InboundReceipt | null {
  const providerId = textOf(given.id);
  const status = lookUp(RECEIPTS, textOf(given.status) ?? '');
  if (providerId === null || status === undefined) return null;
  const messageId = textOf(given[WHATSAPP_OWN_ID]);
  return { kind: 'receipt', accountId, providerId, messageId, status, fault: readFault(status, given) };
}

function readFault(status: InboundReceipt['status'], { errors }: ProviderObject): InboundReceipt['fault'] {
  if (status !== 'FAILED') return null;
  const fault = readGraphError(objectsOf(errors)[0] ?? {});
  return { ...fault, kind: fault.providerCode === WINDOW_CODE ? 'WINDOW' : 'TERMINAL' };
}

const DETAILS: Record<string, (content: ProviderObject) => string | null> = {
  image: ({ caption }) => textOf(caption),
  video: ({ caption }) => textOf(caption),
  document: ({ caption, filename }) => textOf(caption) ?? textOf(filename),
  location: place,
  reaction: ({ emoji }) => textOf(emoji),
  order: ({ text }) => textOf(text),
  system: ({ body }) => textOf(body),
};

/** Describes a message without text. The label of a chosen button or list entry is the customer's text. */
function describe(message: ProviderObject): string {
  const type = textOf(message.type) ?? 'message';
  const content = objectOf(message[type]);
  if (type === 'button') return textOf(content.text) ?? placeholder('button', null);
  if (type === 'interactive') return chosenLabel(content) ?? placeholder('form', null);
  if (type === 'contacts') return placeholder('contact', contactNames(message.contacts));
  if (type === 'audio' && content.voice === true) return placeholder('voice message', null);
  if (type === 'unsupported' || type === 'unknown') {
    return placeholder('unsupported message', textOf(objectsOf(message.errors)[0]?.title));
  }
  return placeholder(type.replaceAll('_', ' '), lookUp(DETAILS, type)?.(content) ?? null);
}

function chosenLabel({ button_reply, list_reply }: ProviderObject): string | null {
  return textOf(objectOf(button_reply ?? list_reply).title);
}

function place({ name, address, latitude, longitude }: ProviderObject): string | null {
  const named = [name, address].map(textOf).filter((part) => part !== null);
  return named.length > 0 ? named.join(', ') : coordinates(latitude, longitude);
}

function contactNames(contacts: unknown): string | null {
  const names = objectsOf(contacts)
    .map(({ name }) => textOf(objectOf(name).formatted_name))
    .filter((name) => name !== null);
  return names.length > 0 ? names.join(', ') : null;
}
