import { areSmallAttributes, MAX_ATTRIBUTES } from './contact-attributes';
import { toStored } from './contact-search';
import { ContactEntity, nextEditTime, VERIFIED_FIELDS, VerifiedField } from './contact.entity';
import { IdentityLink } from './identity-links';
import { readWholeNumber } from './phone-number';

/** Name and e-mail address of a contact: signed by the workspace's server, or claimed by a visitor. */
export interface ContactProfile {
  name?: string | null;
  email?: string | null;
}

/** Returns a contact with all signed values, and with the claimed values of fields that are null. */
export function withProfile(
  before: ContactEntity,
  { signed = {}, claimed }: { signed?: ContactProfile; claimed: ContactProfile },
): ContactEntity {
  const valueOf = (field: VerifiedField) =>
    toStored(signed[field] ?? before[field] ?? claimed[field] ?? null);
  const isSigned = (field: VerifiedField) => typeof signed[field] === 'string';
  return {
    ...before,
    name: valueOf('name'),
    email: valueOf('email'),
    verified: [...new Set([...before.verified, ...VERIFIED_FIELDS.filter(isSigned)])].sort(),
    updatedAt: new Date(),
  };
}

/** Returns a contact whose null fields have the values of other contacts of the same person. */
export function withProfileOf(
  contact: ContactEntity,
  others: ContactEntity[],
  phone: string | null,
): ContactEntity {
  const after = { ...contact, phone, updatedAt: nextEditTime(contact) };
  for (const other of others) {
    for (const field of VERIFIED_FIELDS) {
      if (after[field] !== null || other[field] === null) continue;
      after[field] = other[field];
      if (other.verified.includes(field)) after.verified = [...after.verified, field];
    }
    after.phone ??= other.phone;
    after.attributes = withAttributesOf(after.attributes, other.attributes);
  }
  return after;
}

/** Adds another contact's attributes to a contact's own, up to the limits of attributes. */
function withAttributesOf(own: ContactEntity['attributes'], others: ContactEntity['attributes']) {
  return Object.entries(others).reduce((kept, [name, value]) => {
    const more = Object.hasOwn(kept, name) ? kept : { ...kept, [name]: value };
    return Object.keys(more).length <= MAX_ATTRIBUTES && areSmallAttributes(more) ? more : kept;
  }, own);
}

/**
 * Returns a contact's phone number after its ids were linked. The number `named`, which came with the ids,
 * replaces a number by which the channel no longer knows the person.
 */
export function phoneAfter(
  { phone }: ContactEntity,
  named: string | null,
  { own, gained, replaced, restored }: IdentityLink,
): string | null {
  if (phone === null || named === null) return phone ?? named;
  const [before, after] = [readWholeNumber(phone) ?? '', readWholeNumber(named) ?? ''];
  const isNew = [...gained, ...restored].includes(after);
  return replaced.includes(before) || (isNew && own.includes(before)) ? named : phone;
}
