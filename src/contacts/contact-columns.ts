import { ContactEntity } from './contact.entity';

export type ListedContact = Omit<ContactEntity, 'tenantId' | 'erasedAt' | 'mergedIntoId' | 'searchText'>;

/** Columns of a ListedContact, in SQL. */
export const CONTACT_COLUMNS = `id, name, email, phone, avatar_url AS "avatarUrl", verified, attributes,
  created_at AS "createdAt", updated_at AS "updatedAt"`;
