import {
  InboundChange,
  InboundEcho,
  HookEvent,
  InboundMessage,
  InboundReaction,
  InboundReceipt,
  InboundWatermark,
} from '../hook-events';
import { requireAtMost } from '../hook-body';
import {
  isFilledObject,
  numberOf,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../provider-values';
import { describeMessage, describeReferral } from './messaging-content';
import { withoutFileAddresses } from './file-addresses';
import { readMessagingFiles, withoutAddresses } from './messaging-files';

/**
 * Field of a message in which the service sends its own id. Messenger repeats the id in the echo, which is an
 * event that reports the sent message
 * (developers.facebook.com/docs/messenger-platform/reference/webhook-events/message-echoes).
 */
export const MESSENGER_OWN_ID = 'metadata';

interface Parties {
  accountId: string;
  customerId: string;
  timestamp: string | null;
}

/**
 * Reads all events of a request by Messenger or Instagram, which can cover many accounts. The test events of
 * Meta's dashboard are in `changes` instead of `messaging`.
 * @throws AppError PAYLOAD_TOO_LARGE if there are more than `maxEvents`
 */
export function readMessaging(body: unknown, maxEvents = Infinity): HookEvent[] {
  const updates = objectsOf(objectOf(body).entry).flatMap(({ messaging, changes }) =>
    objectsOf(messaging).concat(objectsOf(changes).map(({ value }) => objectOf(value))),
  );
  const events: HookEvent[] = [];
  for (const update of requireAtMost(maxEvents, updates)) {
    events.push(...readEvent(update, maxEvents));
    requireAtMost(maxEvents, events);
  }
  return events;
}

function readEvent(event: ProviderObject, maxEvents: number): HookEvent[] {
  const message = objectOf(event.message);
  const isEcho = message.is_echo === true;
  const parties = readParties(event, isEcho);
  // An account that writes to itself is not a customer.
  if (!parties || parties.accountId === parties.customerId) return [];
  if (textOf(objectOf(event.thread).id) !== null) return [{ kind: 'group', accountId: parties.accountId }];
  // An echo reports a message of the account, so an echo with `is_deleted` is no customer's unsend.
  if (message.is_deleted === true) return isEcho ? [] : nonNull(readUnsend(parties, message));
  if ('message_edit' in event) return nonNull(readEdit(parties, objectOf(event.message_edit)));
  if ('reaction' in event) return nonNull(readReaction(parties, objectOf(event.reaction)));
  if (isEcho) return nonNull(readEcho(parties, message));
  if ('message' in event) return nonNull(readMessage(parties, message));
  if ('delivery' in event) return readDelivery(parties, objectOf(event.delivery), maxEvents);
  if ('read' in event) return readRead(parties, objectOf(event.read));
  return nonNull(readGesture(parties, event));
}

/** Reads the ids of both parties. An echo reports a sent message, so the account is its sender. */
function readParties({ sender, recipient, timestamp }: ProviderObject, isEcho: boolean): Parties | null {
  const [from, to] = [textOf(objectOf(sender).id), textOf(objectOf(recipient).id)];
  if (from === null || to === null) return null;
  const [accountId, customerId] = isEcho ? [from, to] : [to, from];
  return { accountId, customerId, timestamp: textOf(timestamp) };
}

function nonNull<Event>(event: Event | null): Event[] {
  return event === null ? [] : [event];
}

function readEcho(
  { accountId, customerId, timestamp }: Parties,
  message: ProviderObject,
): InboundEcho | null {
  const providerId = textOf(message.mid);
  if (providerId === null) return null;
  const messageId = textOf(message[MESSENGER_OWN_ID]);
  const at = new Date(numberOf(timestamp) ?? NaN);
  return {
    kind: 'echo',
    accountId,
    customerId,
    providerId,
    messageId,
    body: textOf(message.text),
    at: Number.isNaN(at.getTime()) ? null : at,
  };
}

function readUnsend(parties: Parties, { mid }: ProviderObject): InboundChange | null {
  const about = readAbout(parties, mid);
  return about && { ...about, kind: 'unsend' };
}

/** Reads an edit. Meta also sends an edit with number 0 for the original message, possibly without text. */
function readEdit(parties: Parties, { mid, text, num_edit }: ProviderObject): InboundChange | null {
  const about = readAbout(parties, mid);
  const body = textOf(text);
  if (about === null || body === null) return null;
  return { ...about, kind: 'edit', body, metadata: null, number: numberOf(num_edit) };
}

/** Reads a reaction. The event contains a message to store if the reaction is to an unknown message. */
function readReaction(parties: Parties, reaction: ProviderObject): InboundReaction | null {
  const { mid, action, emoji, reaction: name } = reaction;
  const about = readAbout(parties, mid);
  if (about === null) return null;
  const number = numberOf(parties.timestamp);
  const given = action === 'unreact' ? null : (textOf(emoji) ?? textOf(name));
  if (given === null) return { ...about, kind: 'reaction', number, emojis: [], message: null };
  const id = makeEventId(parties, 'reaction', about.providerId);
  const message = inboundMessage(parties, id, placeholder('reaction', given), { reaction });
  return { ...about, kind: 'reaction', number, emojis: [given], message };
}

function readAbout({ accountId, customerId }: Parties, mid: unknown) {
  const providerId = textOf(mid);
  return providerId === null ? null : { accountId, customerIds: [customerId] as [string], providerId };
}

function makeEventId({ customerId, timestamp }: Parties, kind: string, about = ''): string {
  return [kind, about, customerId, timestamp ?? ''].join(':');
}

/** Keys of a plain text message. A message with any other key is stored whole as metadata. */
const TEXT_KEYS = new Set(['mid', 'text', 'seq', 'nlp']);

function readMessage(parties: Parties, message: ProviderObject): InboundMessage | null {
  const mid = textOf(message.mid);
  if (mid === null) return null;
  const isPlain = Object.keys(message).every((key) => TEXT_KEYS.has(key));
  const metadata = isPlain ? null : withoutAddresses(message);
  const read = inboundMessage(parties, mid, describeMessage(message), metadata);
  return { ...read, ...readMessagingFiles(message) };
}

/** Makes a message without the customer's name, which Meta's events do not contain. */
function inboundMessage(
  { accountId, customerId }: Parties,
  providerId: string,
  body: string,
  metadata: object | null,
): InboundMessage {
  const customer = { externalId: customerId, name: null, phone: null };
  const kept = metadata && withoutFileAddresses(metadata);
  return { kind: 'message', accountId, providerIds: [providerId], customer, body, metadata: kept };
}

/** Reads a receipt of delivered messages: message ids, a watermark (all up to a time), or both. */
function readDelivery(parties: Parties, { mids, watermark }: ProviderObject, maxEvents: number): HookEvent[] {
  const ids = requireAtMost<unknown>(maxEvents, Array.isArray(mids) ? mids : [])
    .map(textOf)
    .filter((mid) => mid !== null);
  return [
    ...ids.map((mid) => receipt(parties, mid, 'DELIVERED')),
    ...readWatermark(parties, 'DELIVERED', watermark),
  ];
}

/** Reads a receipt of read messages: Messenger's watermark (all up to a time), or Instagram's message id. */
function readRead(parties: Parties, { mid, watermark }: ProviderObject): HookEvent[] {
  const id = textOf(mid);
  return [
    ...(id === null ? [] : [receipt(parties, id, 'READ')]),
    ...readWatermark(parties, 'READ', watermark),
  ];
}

function receipt({ accountId }: Parties, providerId: string, status: 'DELIVERED' | 'READ'): InboundReceipt {
  return { kind: 'receipt', accountId, providerId, messageId: null, status, fault: null };
}

function readWatermark(
  { accountId, customerId }: Parties,
  status: InboundWatermark['status'],
  watermark: unknown,
): InboundWatermark[] {
  const until = new Date(numberOf(watermark) ?? NaN);
  if (Number.isNaN(until.getTime())) return [];
  return [{ kind: 'watermark', accountId, customerId, status, until }];
}

/** Reads a pressed button, or the link from which a customer opened the chat, as a message. */
function readGesture(parties: Parties, { postback, referral }: ProviderObject): InboundMessage | null {
  if (isFilledObject(postback)) {
    const body = textOf(postback.title) ?? placeholder('button', null);
    const id = textOf(postback.mid) ?? makeEventId(parties, 'postback');
    return inboundMessage(parties, id, body, { postback });
  }
  if (isFilledObject(referral)) {
    const id = makeEventId(parties, 'referral');
    return inboundMessage(parties, id, describeReferral(referral), { referral });
  }
  return null;
}
