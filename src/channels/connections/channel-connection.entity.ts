import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Channel } from '../../common/channel-descriptors';

export const CONNECTION_STATUSES = ['ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/**
 * A workspace's account at a channel's provider. Disconnected ones aside, a workspace has at most one for each channel,
 * and an account is in at most one workspace.
 */
@Entity('channel_connections')
export class ChannelConnectionEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  channel: Channel;

  /** The account at the provider. */
  @Column('text', { name: 'external_id' })
  externalId: string;

  /** The last part of the path that the provider calls. Random, so that nobody can guess it. */
  @Column('text', { name: 'hook_key' })
  hookKey: string;

  /** The part of the credentials that is not secret. */
  @Column('jsonb')
  settings: object;

  /** Encrypted, not hashed: requests to providers need them. */
  @Column('bytea', { name: 'credentials_ciphertext', select: false })
  credentialsCiphertext: Buffer;

  @Column('text', { name: 'credentials_key_id', select: false })
  credentialsKeyId: string;

  /** Null for never. */
  @Column('timestamptz', { name: 'credentials_expire_at', nullable: true })
  credentialsExpireAt: Date | null;

  @Column('text')
  status: ConnectionStatus;

  /** After a provider throttled us; null for no pause. */
  @Column('timestamptz', { name: 'paused_until', nullable: true })
  pausedUntil: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
