import { ContactEntity } from './contact.entity';

export type ListedContact = Omit<ContactEntity, 'tenantId' | 'erasedAt'>;

/** Columns of a ListedContact, in SQL. */
export const LISTED = `id, name, email, phone, avatar_url AS "avatarUrl", verified, attributes, created_at AS "createdAt",
  updated_at AS "updatedAt"`;
