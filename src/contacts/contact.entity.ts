import { Column, Entity, PrimaryColumn } from 'typeorm';

export const VERIFIED_FIELDS = ['name', 'email'] as const;
export type VerifiedField = (typeof VERIFIED_FIELDS)[number];

/** Person with whom a workspace talks. */
@Entity('contacts')
export class ContactEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text', { nullable: true })
  name: string | null;

  @Column('text', { nullable: true })
  email: string | null;

  @Column('text', { nullable: true })
  phone: string | null;

  @Column('text', { name: 'avatar_url', nullable: true })
  avatarUrl: string | null;

  /** Fields among name and e-mail that the workspace's server has signed. */
  @Column('text', { array: true })
  verified: VerifiedField[];

  /** Other facts that the workspace keeps about the person. */
  @Column('jsonb')
  attributes: Record<string, unknown>;

  /** Text by which `q` finds the contact, which is written alone (contact-search.ts). */
  @Column('text', { name: 'search_text', select: false })
  searchText?: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** Time at which all that is stored about the person was erased; null if it was not. */
  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;

  /** Contact who is the same person, and has all that this one had; null if there is none. */
  @Column('uuid', { name: 'merged_into_id', nullable: true })
  mergedIntoId: string | null;
}

/**
 * Returns the time of a contact's next edit. Each edit has a moment of its own, by which the next one knows
 * what it edits.
 */
export function nextEditTime({ updatedAt }: Pick<ContactEntity, 'updatedAt'>): Date {
  return new Date(Math.max(Date.now(), updatedAt.getTime() + 1));
}
