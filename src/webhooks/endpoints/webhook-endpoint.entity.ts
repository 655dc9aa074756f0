import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A URL that a workspace has registered for its events. */
@Entity('webhook_endpoints')
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  url: string;

  /** Event names, or `*` for all, future ones included. */
  @Column('text', { array: true })
  events: string[];

  /** Encrypted, not hashed: it signs deliveries. */
  @Column('bytea', { name: 'secret_ciphertext', select: false })
  secretCiphertext: Buffer;

  @Column('text', { name: 'secret_key_id', select: false })
  secretKeyId: string;

  @Column('boolean')
  active: boolean;

  /** Counts its activations. What it is owed carries the number. */
  @Column('integer')
  activation: number;

  /** The latest activation, by the database's clock. It takes events that were appended later. */
  @Column('timestamptz', { name: 'activated_at' })
  activatedAt: Date;

  /** Deliveries a second, over all workers; null for no limit. */
  @Column('integer', { name: 'rate_limit', nullable: true })
  rateLimit: number | null;

  /** The first failure since the last success; null without one. */
  @Column('timestamptz', { name: 'failing_since', nullable: true })
  failingSince: Date | null;

  /** To the minute. */
  @Column('timestamptz', { name: 'last_success_at', nullable: true })
  lastSuccessAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** The row of a deleted endpoint is kept until its last delivery expires. */
  @Column('timestamptz', { name: 'deleted_at', nullable: true })
  deletedAt: Date | null;
}
