import { isId } from '../../../common/ids';
import { InboundEvent, InboundMessage, InboundReceipt } from '../channel-adapter';
import { described, lookUp, objectOf, objectsOf, ProviderObject, textOf } from '../support/provider-values';
import { faultOfError } from './graph-api';
import { atMost } from '../support/hook-body';

/** 24 hours have passed since the customer wrote. Both responses and statuses hold it. */
export const WINDOW_CODE = '131047';

/**
 * WhatsApp returns this field in each status of the message
 * (developers.facebook.com/docs/whatsapp/cloud-api/reference/messages).
 */
export const OWN_ID_FIELD = 'biz_opaque_callback_data';

/** Reads all messages and statuses of a notification, which can cover many numbers. */
export function readNotification(body: unknown, maxEvents = Infinity): InboundEvent[] {
  const changes = objectsOf(objectOf(body).entry).flatMap((entry) => objectsOf(entry.changes));
  const events: InboundEvent[] = [];
  for (const { field, value } of atMost(maxEvents, changes)) {
    if (field !== 'messages') continue;
    events.push(...readValue(objectOf(value), maxEvents));
    atMost(maxEvents, events);
  }
  return events;
}

function readValue(value: ProviderObject, maxEvents: number): InboundEvent[] {
  const accountId = textOf(objectOf(value.metadata).phone_number_id);
  if (accountId === null) return [];
  const contactOf = contactsBySender(objectsOf(value.contacts));
  const messages = atMost(maxEvents, objectsOf(value.messages)).map((message) =>
    readMessage(accountId, message, contactOf(message)),
  );
  const statuses = atMost(maxEvents, objectsOf(value.statuses)).map((status) =>
    readStatus(accountId, status),
  );
  return [...messages, ...statuses].filter((event) => event !== null);
}

/** A customer with a user name may hide their phone number. Then they have an id known to this business only. */
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

/** A single contact is the sender's, even if its id differs from the phone number, as in some countries. */
function contactsBySender(contacts: ProviderObject[]): (message: ProviderObject) => ProviderObject {
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
  const ownId = given[OWN_ID_FIELD];
  const messageId = isId(ownId) ? ownId : null;
  return { kind: 'receipt', accountId, providerId, messageId, status, fault: faultOf(status, given) };
}

function faultOf(status: InboundReceipt['status'], { errors }: ProviderObject): InboundReceipt['fault'] {
  if (status !== 'FAILED') return null;
  const fault = faultOfError(objectsOf(errors)[0] ?? {});
  return { ...fault, kind: fault.providerCode === WINDOW_CODE ? 'WINDOW' : 'TERMINAL' };
}

const DETAILS: Record<string, (content: ProviderObject) => string | null> = {
  image: ({ caption }) => textOf(caption),
  video: ({ caption }) => textOf(caption),
  document: ({ caption, filename }) => textOf(caption) ?? textOf(filename),
  location: placeOf,
  reaction: ({ emoji }) => textOf(emoji),
  order: ({ text }) => textOf(text),
  system: ({ body }) => textOf(body),
};

/** The label of a chosen button or list entry is the customer's text. */
function describe(message: ProviderObject): string {
  const type = textOf(message.type) ?? 'message';
  const content = objectOf(message[type]);
  if (type === 'button') return textOf(content.text) ?? described('button', null);
  if (type === 'interactive') return choiceOf(content) ?? described('form', null);
  if (type === 'contacts') return described('contact', contactNames(message.contacts));
  if (type === 'audio' && content.voice === true) return described('voice message', null);
  if (type === 'unsupported' || type === 'unknown') {
    return described('unsupported message', textOf(objectsOf(message.errors)[0]?.title));
  }
  return described(type.replaceAll('_', ' '), lookUp(DETAILS, type)?.(content) ?? null);
}

function choiceOf({ button_reply, list_reply }: ProviderObject): string | null {
  return textOf(objectOf(button_reply ?? list_reply).title);
}

function placeOf({ name, address, latitude, longitude }: ProviderObject): string | null {
  const place = [name, address].map(textOf).filter((part) => part !== null);
  const coordinates = [latitude, longitude].map(textOf).filter((part) => part !== null);
  const parts = place.length > 0 ? place : coordinates;
  return parts.length > 0 ? parts.join(', ') : null;
}

function contactNames(contacts: unknown): string | null {
  const names = objectsOf(contacts)
    .map(({ name }) => textOf(objectOf(name).formatted_name))
    .filter((name) => name !== null);
  return names.length > 0 ? names.join(', ') : null;
}
