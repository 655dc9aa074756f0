import { ContactEntity } from './contact.entity';

export type ListedContact = Omit<ContactEntity, 'tenantId' | 'erasedAt'>;

/**
 * Returns the columns of a ListedContact, in SQL.
 * @param of their table, with a dot, in a statement in which others have such columns
 */
export const listedOf = (of: 'contacts.' | '') =>
  `${of}id, ${of}name, ${of}email, ${of}phone, ${of}avatar_url AS "avatarUrl", ${of}verified, ${of}attributes,
  ${of}created_at AS "createdAt", ${of}updated_at AS "updatedAt"`;

/** Columns of a ListedContact, in SQL. */
export const CONTACT_COLUMNS = listedOf('');
