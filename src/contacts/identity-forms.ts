import { Channel } from '../common/channel-descriptors';
import { foldText } from '../common/folded-text';
import { trimUnseen } from '../common/unseen';
import { readWholeNumber } from './phone-number';

/**
 * Kind of a provider's id. WhatsApp knows a person by a phone number, by an id of one business, and by an id
 * of all businesses of one owner
 * (developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids).
 */
export type IdentityKind = 'phone' | 'user' | 'parent';

/** Id of a WhatsApp customer that is no phone number: a country, then letters and digits. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9.]{1,128}$/;
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
  const text = trimUnseen(given);
  if (channel === 'WHATSAPP') return isBusinessScoped(text) ? text : readWholeNumber(text);
  const digits = foldText(text);
  const most = channel === 'TELEGRAM' ? 16 : 32;
  return /^[1-9]\d*$/.test(digits) && digits.length <= most ? digits : null;
}
