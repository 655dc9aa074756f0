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

  /** The secret before the last roll, while it signs too; all four are null otherwise. */
  @Column('bytea', { name: 'previous_secret_ciphertext', nullable: true, select: false })
  previousSecretCiphertext: Buffer | null;

  @Column('text', { name: 'previous_secret_key_id', nullable: true, select: false })
  previousSecretKeyId: string | null;

  /** By the database's clock. It may be past: then nothing is signed with it. */
  @Column('timestamptz', { name: 'previous_secret_ends_at', nullable: true })
  previousSecretEndsAt: Date | null;

  /** Whether `x-service-signature` is by the previous secret until then. */
  @Column('boolean', { name: 'previous_secret_signs_service', nullable: true })
  previousSecretSignsService: boolean | null;

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
