import { ContactEntity } from './contact.entity';

export type ListedContact = Omit<ContactEntity, 'tenantId'>;

/** In SQL: the columns of a {@link ListedContact}. */
export const LISTED = `id, name, email, phone, avatar_url AS "avatarUrl", verified, attributes, created_at AS "createdAt",
  updated_at AS "updatedAt"`;
