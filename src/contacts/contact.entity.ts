import { newId } from '../common/ids';
import { toStored } from './contact-search';

export const VERIFIED_FIELDS = ['name', 'email'] as const;
export type VerifiedField = (typeof VERIFIED_FIELDS)[number];

/** Contact as lists read it. */
export interface ListedContact {
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  avatarUrl: string | null;
  /** Fields among name and e-mail that the workspace's server has signed. */
  verified: VerifiedField[];
  /** Other facts that the workspace keeps about the person. */
  attributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

/** Customer of a workspace. */
export interface ContactEntity extends ListedContact {
  tenantId: string;
  /** Time at which the person's data was erased; null if it was not. */
  erasedAt: Date | null;
  /** Contact into which this one was merged, because both are one person; null if it was not merged. */
  mergedIntoId: string | null;
}

/** Columns of a ListedContact, in SQL. */
export const CONTACT_COLUMNS = `id, name, email, phone, avatar_url AS "avatarUrl", verified, attributes,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Makes a contact of the workspace, which is not stored yet. */
export function newContact(
  tenantId: string,
  { name, email, phone, attributes }: Pick<ContactEntity, 'name' | 'email' | 'phone' | 'attributes'>,
): ContactEntity {
  const now = new Date();
  return {
    id: newId(),
    tenantId,
    name: toStored(name),
    email: toStored(email),
    phone,
    avatarUrl: null,
    verified: [],
    attributes,
    createdAt: now,
    updatedAt: now,
    erasedAt: null,
    mergedIntoId: null,
  };
}

/**
 * Returns the time of a contact's next edit. Each edit has a moment of its own, by which the next one knows
 * the version that it edits.
 */
export function nextEditTime({ updatedAt }: Pick<ContactEntity, 'updatedAt'>): Date {
  return new Date(Math.max(Date.now(), updatedAt.getTime() + 1));
}
