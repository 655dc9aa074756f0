import { InboundIds, InboundMessage } from '../hook-events';
import { numberOf, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';

/**
 * Types of system messages that tell of a customer's new ids
 * (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system). The
 * second one is the name of the first one in earlier versions.
 */
const CHANGES_OF_IDS = new Set(['user_changed_number', 'customer_changed_number', 'user_changed_user_id']);

/**
 * Reads the ids of a message's sender. Meta may know the person by a number, an id of the business, or both.
 */
export function readSender(
  message: ProviderObject,
  contact: ProviderObject,
): InboundMessage['customer'] | null {
  const phone = textOf(message.from);
  const [externalId, ...otherIds] = idsIn(
    phone,
    textOf(message.from_user_id) ?? textOf(contact.user_id),
    textOf(message.from_parent_user_id) ?? textOf(contact.parent_user_id),
    contact.wa_id,
  );
  if (externalId === undefined) return null;
  const profile = objectOf(contact.profile);
  const name = textOf(profile.name) ?? textOf(profile.username);
  return { externalId, ...(otherIds.length > 0 && { otherIds }), name, phone: toPhone(phone) };
}

/**
 * Reads a system message that tells of new ids; null for others, such as of a new key of encryption. The
 * former number is its sender's.
 */
export function readChangeOfIds(accountId: string, message: ProviderObject): InboundIds | null {
  const system = objectOf(message.system);
  if (!CHANGES_OF_IDS.has(textOf(system.type) ?? '')) return null;
  const phone = textOf(system.wa_id) ?? textOf(system.new_wa_id);
  const ids = idsIn(phone, system.user_id, system.parent_user_id);
  const previousIds = idsIn(
    ...[message.from, message.from_user_id, message.from_parent_user_id],
    ...[system.previous_user_id, system.previous_parent_user_id, system.customer],
    idBefore(textOf(system.body) ?? '', ids),
  );
  return toEvent(accountId, ids, previousIds, phone, message.timestamp);
}

/** Reads the updates of business-scoped ids that Meta sent in a field of their own. */
export function readUserIdUpdates(value: ProviderObject): InboundIds[] {
  const accountId = textOf(objectOf(value.metadata).phone_number_id);
  if (accountId === null) return [];
  return objectsOf(value.user_id_update)
    .map(({ user_id, parent_user_id, wa_id, timestamp }) => {
      const [user, parent] = [objectOf(user_id), objectOf(parent_user_id)];
      const phone = textOf(wa_id);
      const ids = idsIn(phone, user.current, parent.current);
      return toEvent(accountId, ids, idsIn(user.previous, parent.previous), phone, timestamp);
    })
    .filter((event) => event !== null);
}

/** Reads the ids of a status's recipient; none of a group. */
export function readRecipient(status: ProviderObject): string[] {
  if (status.recipient_type === 'group') return [];
  return idsIn(
    status.recipient_id,
    status.recipient_user_id,
    status.recipient_parent_user_id ?? status.parent_recipient_user_id,
  );
}

/**
 * Reads the ids by which Meta knows the recipient of a sent message, if the request has named another one.
 */
export function readAnsweredIds({ contacts }: ProviderObject, recipientId: string): string[] {
  const { wa_id, user_id } = objectOf(objectsOf(contacts)[0]);
  const ids = idsIn(wa_id, user_id);
  return ids.some((id) => id !== recipientId) && textOf(wa_id) !== recipientId ? ids : [];
}

/** Reads a time in seconds; null if it is none. */
export function readTime(timestamp: unknown): Date | null {
  const seconds = numberOf(timestamp);
  return seconds !== null && Math.abs(seconds) < 1e11 ? new Date(seconds * 1000) : null;
}

function toEvent(
  accountId: string,
  ids: string[],
  previousIds: string[],
  phone: string | null,
  timestamp: unknown,
): InboundIds | null {
  const [first, ...others] = ids;
  if (first === undefined) return null;
  const at = readTime(timestamp) ?? new Date();
  const former = previousIds.filter((id) => !ids.includes(id));
  return { kind: 'ids', accountId, ids: [first, ...others], previousIds: former, phone: toPhone(phone), at };
}

/**
 * Returns the id that a text tells of, such as "User Ana changed from ES.1 to ES.2". The customer's name
 * comes before, so only the end counts.
 */
function idBefore(text: string, ids: string[]): string | null {
  const [, before, after] = / changed from (\S+) to (\S+)$/.exec(text) ?? [];
  return before !== undefined && ids.includes(after!) ? before : null;
}

/** Returns the ids among values, each once; numbers without the `+` that some senders put before them. */
function idsIn(...values: unknown[]): string[] {
  const ids = values.map(textOf).filter((id) => id !== null);
  return [...new Set(ids.map(withoutPlus))];
}

function toPhone(phone: string | null): string | null {
  return phone && `+${withoutPlus(phone)}`;
}

function withoutPlus(id: string): string {
  return id.replace(/^\+(?=\d)/, '');
}
