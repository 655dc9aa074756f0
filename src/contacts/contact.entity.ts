import { newId } from '../common/ids';
import { toStored } from './contact-search';

export const VERIFIED_FIELDS = ['name', 'email'] as const;
export type VerifiedField = (typeof VERIFIED_FIELDS)[number];

export interface ListedContact {
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  avatarUrl: string | null;
  /** Fields whose value the workspace's server has signed. */
  verified: VerifiedField[];
  attributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export interface ContactEntity extends ListedContact {
  tenantId: string;
  /** Time at which the person's data was erased; null if it was not. */
  erasedAt: Date | null;
  /** Contact into which this one was merged, because both are the same person; null if it was not merged. */
  mergedIntoId: string | null;
}

export const CONTACT_COLUMNS = `id, name, email, phone, avatar_url AS "avatarUrl", verified, attributes,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

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
 * Returns a time for a contact's edit that is later than the time of the last edit, because editors name the
 * version that they edit by its time.
 */
export function nextEditTime({ updatedAt }: Pick<ContactEntity, 'updatedAt'>): Date {
  return new Date(Math.max(Date.now(), updatedAt.getTime() + 1));
}
