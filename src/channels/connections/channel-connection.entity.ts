import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Channel } from '../../common/channel';

export const CONNECTION_STATUSES = ['ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/**
 * A workspace's account at a channel's provider. Of those that are not disconnected, a workspace has at most one for
 * each channel, and an account is in at most one workspace.
 */
@Entity('channel_connections')
export class ChannelConnectionEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'tenant_id' })
  tenantId: string;

  @Column('text')
  channel: Channel;

  /** The account at the provider. */
  @Column('text', { name: 'external_id' })
  externalId: string;

  /** The last part of the path that the provider calls: random, so that nobody else finds it. */
  @Column('text', { name: 'hook_key' })
  hookKey: string;

  /** What is not secret. */
  @Column('jsonb')
  settings: object;

  /** Encrypted, not hashed: providers want to see them. */
  @Column('bytea', { name: 'credentials_ciphertext', select: false })
  credentialsCiphertext: Buffer;

  @Column('text', { name: 'credentials_key_id', select: false })
  credentialsKeyId: string;

  /** When the provider lets the credentials lapse; null for never. */
  @Column('timestamptz', { name: 'credentials_expire_at', nullable: true })
  credentialsExpireAt: Date | null;

  @Column('text')
  status: ConnectionStatus;

  /** Until when the provider wants to be left alone; null for not at all. */
  @Column('timestamptz', { name: 'paused_until', nullable: true })
  pausedUntil: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
