import { newId } from '../common/ids';
import { toStored } from './contact-search';
import { ContactEntity } from './contact.entity';

export function newContact(
  tenantId: string,
  known: Pick<ContactEntity, 'name' | 'email' | 'phone' | 'attributes'>,
): ContactEntity {
  const now = new Date();
  return {
    id: newId(),
    tenantId,
    name: toStored(known.name),
    email: toStored(known.email),
    phone: known.phone,
    avatarUrl: null,
    verified: [],
    attributes: known.attributes,
    createdAt: now,
    updatedAt: now,
    erasedAt: null,
    mergedIntoId: null,
  };
}
