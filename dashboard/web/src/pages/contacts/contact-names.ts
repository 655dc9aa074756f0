import type { Contact, ContactSummary } from '../../api/types';
import { contactName, isVisible } from '../../common/contact-name';
import { shortId } from '../../common/short-id';
import { useTexts } from '../../i18n/locale';

type Named = Pick<ContactSummary, 'id' | 'name' | 'email' | 'phone'>;

/** Longest name, in characters, that a person is asked to type as a confirmation. */
const MAX_TYPED = 40;

/** Returns a function that names a contact by its name, or else by its e-mail address, phone or channel. */
export function useNameOf(): (contact: Named & Partial<Pick<Contact, 'identities'>>) => string {
  const { contacts } = useTexts();
  return ({ id, name, email, phone, identities }) => {
    if (isVisible(name)) return name.trim();
    const channel = identities?.[0]?.channel;
    return email || phone || (channel ? contactName(channel, { id, name }) : contacts.unnamed(shortId(id)));
  };
}

/** Returns the text to type as a confirmation: the contact's name, or the id's end if that is easier. */
export function typedNameOf({ id, name }: Named): string {
  const text = name?.trim() ?? '';
  const isTypable = text !== '' && text.length <= MAX_TYPED && !/\p{C}|\s{2}/u.test(text);
  return isTypable ? text : shortId(id).replace('…', '');
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
