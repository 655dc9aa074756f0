import { Channel } from '../common/channel-descriptors';

/**
 * Kind of a provider's id. WhatsApp knows a person by a phone number, by an id of one business, and by an id
 * of all businesses of one owner
 * (developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids).
 */
export type IdentityKind = 'phone' | 'user' | 'parent';

/** Id of a WhatsApp customer that is no phone number: a country, then letters and digits. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9.]{1,128}$/;
/**
 * Characters that people write between the digits of a phone number, or that come along when it is copied.
 */
const PHONE_SEPARATORS = /[\s().\-/\u2010-\u2015\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** Phone number with its country code (ITU E.164). */
const PHONE = /^(?:\+|00)?([1-9]\d{6,14})$/;

/** Returns the kind of an id on a channel. Of channels with one kind of ids, all are `user`. */
export function identityKind(channel: Channel, externalId: string): IdentityKind {
  if (channel !== 'WHATSAPP') return 'user';
  if (!isBusinessScoped(externalId)) return 'phone';
  return externalId.startsWith('ENT.', 3) ? 'parent' : 'user';
}

export function isBusinessScoped(externalId: string): boolean {
  return BUSINESS_SCOPED_ID.test(externalId);
}

/** Codes of the errors that tell people which ids a channel has. */
export const IDENTITY_FAULTS = {
  WIDGET: 'wrong_form',
  WHATSAPP: 'not_whatsapp_id',
  TELEGRAM: 'not_telegram_id',
  MESSENGER: 'not_scoped_id',
  INSTAGRAM: 'not_scoped_id',
} as const satisfies Record<Channel, string>;

/** Returns an id in the form that the provider uses; null if it can't be one. */
export function toProviderForm(channel: Channel, given: string): string | null {
  if (channel === 'WIDGET') return given;
  const text = given.trim();
  if (channel === 'WHATSAPP')
    return isBusinessScoped(text) ? text : (PHONE.exec(text.replace(PHONE_SEPARATORS, ''))?.[1] ?? null);
  const most = channel === 'TELEGRAM' ? 16 : 32;
  return /^[1-9]\d*$/.test(text) && text.length <= most ? text : null;
}
