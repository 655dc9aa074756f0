import { Channel } from '../common/channel-descriptors';
import { foldText } from '../common/folded-text';
import { trimUnseen } from '../common/unseen';
import { readWholeNumber } from './phone-number';

/**
 * Kind of a provider's id. WhatsApp identifies a person by a phone number, by an id for one business
 * (`user`), and by an id for all businesses of one owner (`parent`)
 * (developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids).
 */
export type IdentityKind = 'phone' | 'user' | 'parent';

/** Id of a WhatsApp customer that is not a phone number: a country's code, then letters and digits. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9.]{1,128}$/;

/** Returns the kind of an id; always `user` on channels other than WhatsApp. */
export function identityKind(channel: Channel, externalId: string): IdentityKind {
  if (channel !== 'WHATSAPP') return 'user';
  if (!isBusinessScoped(externalId)) return 'phone';
  return externalId.startsWith('ENT.', 3) ? 'parent' : 'user';
}

export function isBusinessScoped(externalId: string): boolean {
  return BUSINESS_SCOPED_ID.test(externalId);
}

/** Form of a channel's ids: the function that reads an id, and the code of the error for any other text. */
interface IdentityForm {
  read: (text: string) => string | null;
  fault: 'not_whatsapp_id' | 'not_telegram_id' | 'not_scoped_id';
}

const digits = (most: number, fault: IdentityForm['fault']): IdentityForm => ({
  read: (text) => new RegExp(`^[1-9]\\d{0,${most - 1}}$`).exec(foldText(text))?.[0] ?? null,
  fault,
});

/** Forms of the ids of each channel. The widget has none, because the workspace chooses the widget's ids. */
export const IDENTITY_FORMS: Partial<Record<Channel, IdentityForm>> = {
  WHATSAPP: {
    read: (text) => (isBusinessScoped(text) ? text : readWholeNumber(text)),
    fault: 'not_whatsapp_id',
  },
  TELEGRAM: digits(16, 'not_telegram_id'),
  MESSENGER: digits(32, 'not_scoped_id'),
  INSTAGRAM: digits(32, 'not_scoped_id'),
};

/** Returns an id in the form that the provider uses; null if the text is not such an id. */
export function toProviderForm(channel: Channel, given: string): string | null {
  const form = IDENTITY_FORMS[channel];
  return form ? form.read(trimUnseen(given)) : given;
}
