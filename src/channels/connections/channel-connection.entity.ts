import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Channel } from '../../common/channel-descriptors';

export const CONNECTION_STATUSES = ['ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/**
 * Account of a workspace at a channel's provider. Apart from disconnected ones, a workspace has at most one
 * for each channel, and an account is in at most one workspace.
 */
@Entity('channel_connections')
export class ChannelConnectionEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  channel: Channel;

  /** Id of the account at the provider. */
  @Column('text', { name: 'external_id' })
  externalId: string;

  /** Last part of the path that the provider calls. It is random, so that it can't be guessed. */
  @Column('text', { name: 'hook_key' })
  hookKey: string;

  /** The part of the credentials that is not secret. */
  @Column('jsonb')
  settings: object;

  /** Credentials, encrypted and not hashed: requests to providers need them. */
  @Column('bytea', { name: 'credentials_ciphertext', select: false })
  credentialsCiphertext: Buffer;

  @Column('text', { name: 'credentials_key_id', select: false })
  credentialsKeyId: string;

  /** Time at which the credentials expire; null if they never do. */
  @Column('timestamptz', { name: 'credentials_expire_at', nullable: true })
  credentialsExpireAt: Date | null;

  @Column('text')
  status: ConnectionStatus;

  /** End of a pause that a provider's limit has caused; null for no pause. */
  @Column('timestamptz', { name: 'paused_until', nullable: true })
  pausedUntil: Date | null;

  /** Time at which a message of a customer came last, to the minute; null if none has. */
  @Column('timestamptz', { name: 'last_received_at', nullable: true })
  lastReceivedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
