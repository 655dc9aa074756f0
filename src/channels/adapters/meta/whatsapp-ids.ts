import { InboundIds, InboundMessage } from '../hook-events';
import { numberOf, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';

/**
 * System messages that report a customer's new ids
 * (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system).
 * Earlier versions of the API say `customer_changed_number` instead of `user_changed_number`.
 */
const CHANGES_OF_IDS = new Set(['user_changed_number', 'customer_changed_number', 'user_changed_user_id']);

/** Reads a sender's ids. Meta knows a person by a phone number, by an id for this business, or by both. */
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
 * Reads the new ids in a system message. Returns null for other system messages, such as of a new encryption
 * key. The message's sender is the former phone number.
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

/** Reads changes of the ids that Meta gives customers for one business, from `user_id_update`. */
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

/** Returns the ids of a status's recipient; none if it is a group. */
export function readRecipient(status: ProviderObject): string[] {
  if (status.recipient_type === 'group') return [];
  return idsIn(
    status.recipient_id,
    status.recipient_user_id,
    status.recipient_parent_user_id ?? status.parent_recipient_user_id,
  );
}

/** Returns the recipient's ids from a response; none if the message was sent to a phone number. */
export function readAnsweredIds({ contacts }: ProviderObject, recipientId: string): string[] {
  const { wa_id, user_id } = objectOf(objectsOf(contacts)[0]);
  const ids = idsIn(wa_id, user_id);
  return ids.some((id) => id !== recipientId) && textOf(wa_id) !== recipientId ? ids : [];
}

/** Converts seconds since 1970; null if the value is not a number or is out of range. */
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
 * Returns the former id from a text such as "User Ana changed from ES.1 to ES.2". Reads only the end, because
 * the name can contain any words.
 */
function idBefore(text: string, ids: string[]): string | null {
  const [, before, after] = / changed from (\S+) to (\S+)$/.exec(text) ?? [];
  return before !== undefined && ids.includes(after!) ? before : null;
}

/** Returns the distinct ids among the values. Removes the `+` that some senders put before numbers. */
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
