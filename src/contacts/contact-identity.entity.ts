import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type Channel } from '../common/channel-descriptors';

/**
 * Id of a contact on one channel, unique per workspace and channel. A contact can have several on one
 * channel.
 */
@Entity('contact_identities')
export class ContactIdentityEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('text')
  channel: Channel;

  /** Provider's id of the person: a phone number, a chat id, a page-scoped id. */
  @PrimaryColumn('text', { name: 'external_id' })
  externalId: string;

  @Index('contact_identities_contact_idx')
  @Column('uuid', { name: 'contact_id' })
  contactId: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Time at which the provider said that the person has another id instead; null if it did not. */
  @Column('timestamptz', { name: 'replaced_at', nullable: true })
  replacedAt: Date | null;
}
