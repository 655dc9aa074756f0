import { isId } from '../../common/ids';
import {
  InboundEcho,
  InboundEvent,
  InboundMessage,
  InboundReceipt,
  InboundWatermark,
} from './channel-adapter';
import { described } from './description';
import { lookUp, numberOf, objectOf, objectsOf, ProviderObject, textOf } from './provider-json';

/**
 * A field of Messenger's request to send that comes back in the message's echo. Documented in Meta's reference of the
 * Send API and of `message_echoes` (developers.facebook.com/docs/messenger-platform/reference/webhook-events/message-echoes).
 */
export const OWN_ID_FIELD = 'metadata';

/** Who an event is between, and when it happened, as text. */
interface Parties {
  accountId: string;
  customerId: string;
  timestamp: string | null;
}

/**
 * Every event of a notification of Messenger or Instagram; it can hold those of many accounts. The test events of
 * Meta's dashboard come as changes instead, and are read alike.
 */
export function readMessaging(body: unknown): InboundEvent[] {
  return objectsOf(objectOf(body).entry)
    .flatMap(({ messaging, changes }) => [
      ...objectsOf(messaging),
      ...objectsOf(changes).map(({ value }) => objectOf(value)),
    ])
    .flatMap(readEvent);
}

function readEvent(event: ProviderObject): InboundEvent[] {
  const message = objectOf(event.message);
  const isEcho = message.is_echo === true;
  const parties = partiesOf(event, isEcho);
  // Whoever writes to themselves is nobody's customer.
  if (!parties || parties.accountId === parties.customerId) return [];
  // What was taken back has been brought before: what remains to be told is not a message.
  if ('message' in event && message.is_deleted === true) return [];
  if (isEcho) return present(readEcho(parties, message));
  if ('message' in event) return present(readMessage(parties, message));
  if ('delivery' in event) return readDelivery(parties, objectOf(event.delivery));
  if ('read' in event) return readRead(parties, objectOf(event.read));
  return present(readGesture(parties, event));
}

/** The account is who is written to; in an echo, who writes. */
function partiesOf({ sender, recipient, timestamp }: ProviderObject, isEcho: boolean): Parties | null {
  const [from, to] = [textOf(objectOf(sender).id), textOf(objectOf(recipient).id)];
  if (from === null || to === null) return null;
  const [accountId, customerId] = isEcho ? [from, to] : [to, from];
  return { accountId, customerId, timestamp: textOf(timestamp) };
}

function present<Event>(event: Event | null): Event[] {
  return event === null ? [] : [event];
}

function readEcho({ accountId, customerId }: Parties, message: ProviderObject): InboundEcho | null {
  const providerId = textOf(message.mid);
  if (providerId === null) return null;
  const ownId = message[OWN_ID_FIELD];
  const messageId = isId(ownId) ? ownId : null;
  return { kind: 'echo', accountId, customerId, providerId, messageId, body: textOf(message.text) };
}

/** What a message holds that is nothing but text. */
const PLAIN = new Set(['mid', 'text', 'seq', 'nlp']);

function readMessage(parties: Parties, message: ProviderObject): InboundMessage | null {
  const mid = textOf(message.mid);
  if (mid === null) return null;
  const isPlain = Object.keys(message).every((key) => PLAIN.has(key));
  return written(parties, mid, textOf(message.text) ?? describe(message), isPlain ? null : message);
}

/**
 * Names are not told, only asked for, and a message is not to wait for an answer: contacts are nameless until somebody
 * names them.
 */
function written(
  { accountId, customerId }: Parties,
  providerId: string,
  body: string,
  metadata: object | null,
): InboundMessage {
  const customer = { externalId: customerId, name: null, phone: null };
  return { kind: 'message', accountId, providerIds: [providerId], customer, body, metadata };
}

/** A delivery names the messages it is about, or how far all of them have come, or both. */
function readDelivery(parties: Parties, { mids, watermark }: ProviderObject): InboundEvent[] {
  const ids = (Array.isArray(mids) ? mids : []).map(textOf).filter((mid) => mid !== null);
  return [
    ...ids.map((mid) => receipt(parties, mid, 'DELIVERED')),
    ...watermarkOf(parties, 'DELIVERED', watermark),
  ];
}

/** Messenger tells until when everything was read, Instagram which message. */
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

/** What a customer does without writing: a button, a reaction, a link that led here. Not all of it has an id. */
function readGesture(parties: Parties, event: ProviderObject): InboundMessage | null {
  const { postback, reaction, referral } = event;
  const idOf = (kind: string, about = '') =>
    [kind, about, parties.customerId, parties.timestamp ?? ''].join(':');
  if (isGiven(postback)) {
    // A button says what is written on it.
    const body = textOf(postback.title) ?? described('button', null);
    return written(parties, textOf(postback.mid) ?? idOf('postback'), body, { postback });
  }
  if (isGiven(reaction) && reaction.action !== 'unreact') {
    const body = described('reaction', textOf(reaction.emoji) ?? textOf(reaction.reaction));
    return written(parties, idOf('reaction', textOf(reaction.mid) ?? ''), body, { reaction });
  }
  if (isGiven(referral)) {
    return written(parties, idOf('referral'), described('referral', textOf(referral.ref)), { referral });
  }
  return null;
}

function isGiven(value: unknown): value is ProviderObject {
  return Object.keys(objectOf(value)).length > 0;
}

function describe(message: ProviderObject): string {
  const attachments = objectsOf(message.attachments);
  if (attachments.length > 0) return attachments.map(describeAttachment).join('\n');
  return described(message.is_unsupported === true ? 'unsupported message' : 'message', null);
}

/** Where Meta's own name for a kind says little. */
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
