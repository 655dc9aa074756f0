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

/** Returns a contact with all signed values. A claimed value is used only for a field that is null. */
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

/** Returns a contact whose missing values and attributes are taken from the person's other contacts. */
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

/** Adds the attributes that only the other contact has, as far as the limits of attributes allow. */
function withAttributesOf(own: ContactEntity['attributes'], others: ContactEntity['attributes']) {
  return Object.entries(others).reduce((kept, [name, value]) => {
    const more = Object.hasOwn(kept, name) ? kept : { ...kept, [name]: value };
    return Object.keys(more).length <= MAX_ATTRIBUTES && areSmallAttributes(more) ? more : kept;
  }, own);
}

/**
 * Returns a contact's phone number after its ids have changed. The number `named`, which came with the new
 * ids, replaces an empty number, and a number by which the channel knew the person before.
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
