import { isId } from '../../../common/ids';
import {
  InboundEcho,
  InboundEvent,
  InboundMessage,
  InboundReceipt,
  InboundWatermark,
} from '../channel-adapter';
import {
  described,
  lookUp,
  numberOf,
  objectOf,
  objectsOf,
  ProviderObject,
  textOf,
} from '../support/provider-values';
import { atMost } from '../support/hook-body';

/**
 * Messenger returns this field in the message's echo
 * (developers.facebook.com/docs/messenger-platform/reference/webhook-events/message-echoes).
 */
export const OWN_ID_FIELD = 'metadata';

interface Parties {
  accountId: string;
  customerId: string;
  timestamp: string | null;
}

/**
 * Reads all events of a notification by Messenger or Instagram, which can cover many accounts. The test events of
 * Meta's dashboard arrive as `changes`.
 */
export function readMessaging(body: unknown, maxEvents = Infinity): InboundEvent[] {
  const updates = objectsOf(objectOf(body).entry).flatMap(({ messaging, changes }) =>
    objectsOf(messaging).concat(objectsOf(changes).map(({ value }) => objectOf(value))),
  );
  const events: InboundEvent[] = [];
  for (const update of atMost(maxEvents, updates)) {
    events.push(...readEvent(update, maxEvents));
    atMost(maxEvents, events);
  }
  return events;
}

function readEvent(event: ProviderObject, maxEvents: number): InboundEvent[] {
  const message = objectOf(event.message);
  const isEcho = message.is_echo === true;
  const parties = partiesOf(event, isEcho);
  // An account that writes to itself is not a customer.
  if (!parties || parties.accountId === parties.customerId) return [];
  // The customer deleted a message that is already stored.
  if ('message' in event && message.is_deleted === true) return [];
  if (isEcho) return nonNull(readEcho(parties, message));
  if ('message' in event) return nonNull(readMessage(parties, message));
  if ('delivery' in event) return readDelivery(parties, objectOf(event.delivery), maxEvents);
  if ('read' in event) return readRead(parties, objectOf(event.read));
  return nonNull(readGesture(parties, event));
}

/** The account is the recipient; of an echo, the sender. */
function partiesOf({ sender, recipient, timestamp }: ProviderObject, isEcho: boolean): Parties | null {
  const [from, to] = [textOf(objectOf(sender).id), textOf(objectOf(recipient).id)];
  if (from === null || to === null) return null;
  const [accountId, customerId] = isEcho ? [from, to] : [to, from];
  return { accountId, customerId, timestamp: textOf(timestamp) };
}

function nonNull<Event>(event: Event | null): Event[] {
  return event === null ? [] : [event];
}

function readEcho({ accountId, customerId }: Parties, message: ProviderObject): InboundEcho | null {
  const providerId = textOf(message.mid);
  if (providerId === null) return null;
  const ownId = message[OWN_ID_FIELD];
  const messageId = isId(ownId) ? ownId : null;
  return { kind: 'echo', accountId, customerId, providerId, messageId, body: textOf(message.text) };
}

/** The keys of a message that is only text. */
const TEXT_KEYS = new Set(['mid', 'text', 'seq', 'nlp']);

function readMessage(parties: Parties, message: ProviderObject): InboundMessage | null {
  const mid = textOf(message.mid);
  if (mid === null) return null;
  const isPlain = Object.keys(message).every((key) => TEXT_KEYS.has(key));
  return inboundMessage(parties, mid, textOf(message.text) ?? describe(message), isPlain ? null : message);
}

/** Meta gives a name only on request, and storing does not wait for that. So contacts start without a name. */
function inboundMessage(
  { accountId, customerId }: Parties,
  providerId: string,
  body: string,
  metadata: object | null,
): InboundMessage {
  const customer = { externalId: customerId, name: null, phone: null };
  return { kind: 'message', accountId, providerIds: [providerId], customer, body, metadata };
}

/** A receipt of delivery names messages, or a watermark, or both. */
function readDelivery(
  parties: Parties,
  { mids, watermark }: ProviderObject,
  maxEvents: number,
): InboundEvent[] {
  const ids = atMost<unknown>(maxEvents, Array.isArray(mids) ? mids : [])
    .map(textOf)
    .filter((mid) => mid !== null);
  return [
    ...ids.map((mid) => receipt(parties, mid, 'DELIVERED')),
    ...watermarkOf(parties, 'DELIVERED', watermark),
  ];
}

/** Messenger sends a watermark, Instagram a message id. */
function readRead(parties: Parties, { mid, watermark }: ProviderObject): InboundEvent[] {
  const id = textOf(mid);
  return [...(id === null ? [] : [receipt(parties, id, 'READ')]), ...watermarkOf(parties, 'READ', watermark)];
}

function receipt({ accountId }: Parties, providerId: string, status: 'DELIVERED' | 'READ'): InboundReceipt {
  return { kind: 'receipt', accountId, providerId, messageId: null, status, fault: null };
}

function watermarkOf(
  { accountId, customerId }: Parties,
  status: InboundWatermark['status'],
  watermark: unknown,
): InboundWatermark[] {
  const until = new Date(numberOf(watermark) ?? NaN);
  if (Number.isNaN(until.getTime())) return [];
  return [{ kind: 'watermark', accountId, customerId, status, until }];
}

/** A button, a reaction, or the link that led here. Some have no id, so theirs is made from the event. */
function readGesture(parties: Parties, event: ProviderObject): InboundMessage | null {
  const { postback, reaction, referral } = event;
  const idOf = (kind: string, about = '') =>
    [kind, about, parties.customerId, parties.timestamp ?? ''].join(':');
  if (isFilledObject(postback)) {
    // The button's label.
    const body = textOf(postback.title) ?? described('button', null);
    return inboundMessage(parties, textOf(postback.mid) ?? idOf('postback'), body, { postback });
  }
  if (isFilledObject(reaction) && reaction.action !== 'unreact') {
    const body = described('reaction', textOf(reaction.emoji) ?? textOf(reaction.reaction));
    return inboundMessage(parties, idOf('reaction', textOf(reaction.mid) ?? ''), body, { reaction });
  }
  if (isFilledObject(referral)) {
    return inboundMessage(parties, idOf('referral'), described('referral', textOf(referral.ref)), {
      referral,
    });
  }
  return null;
}

function isFilledObject(value: unknown): value is ProviderObject {
  return Object.keys(objectOf(value)).length > 0;
}

function describe(message: ProviderObject): string {
  const attachments = objectsOf(message.attachments);
  if (attachments.length > 0) return attachments.map(describeAttachment).join('\n');
  return described(message.is_unsupported === true ? 'unsupported message' : 'message', null);
}

/** Clearer names for some of Meta's types. */
const KINDS: Record<string, string> = {
  fallback: 'link',
  share: 'shared post',
  ig_post: 'shared post',
  ig_reel: 'reel',
  template: 'template',
  unsupported_type: 'unsupported message',
};

function describeAttachment({ type, title, payload }: ProviderObject): string {
  const content = objectOf(payload);
  if (textOf(content.sticker_id) !== null) return described('sticker', null);
  const name = textOf(type) ?? 'attachment';
  const kind = lookUp(KINDS, name) ?? name.replaceAll('_', ' ');
  return described(kind, placeOf(content) ?? textOf(title) ?? textOf(content.title));
}

function placeOf({ coordinates }: ProviderObject): string | null {
  const { lat, long } = objectOf(coordinates);
  const [north, east] = [numberOf(lat), numberOf(long)];
  return north === null || east === null ? null : `${north}, ${east}`;
}
