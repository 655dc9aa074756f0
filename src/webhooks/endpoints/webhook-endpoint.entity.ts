import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Actor } from '../../access/principal';
import { type ContextPart } from '../context/context-parts';

/**
 * Reason for which the service deactivated an endpoint: a delivery ended with 410, or all failed for days.
 */
export const DEACTIVATION_REASONS = ['gone', 'failing'] as const;
export type DeactivationReason = (typeof DEACTIVATION_REASONS)[number];

/** URL that a workspace has registered for its events. */
@Entity('webhook_endpoints')
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  /** Name by which people know the endpoint; null without one. */
  @Column('text', { nullable: true })
  name: string | null;

  @Column('text', { nullable: true })
  description: string | null;

  @Column('text')
  url: string;

  /** Event types, or `*` for all, future ones included. */
  @Column('text', { array: true })
  events: string[];

  /** Parts of the context that its deliveries have; null if it does not ask for a context. */
  @Column('text', { name: 'context_parts', array: true, nullable: true })
  context: ContextPart[] | null;

  /** Secret, encrypted and not hashed, because it signs deliveries. */
  @Column('bytea', { name: 'secret_ciphertext', select: false })
  secretCiphertext: Buffer;

  @Column('text', { name: 'secret_key_id', select: false })
  secretKeyId: string;

  /** Secret before the last roll, while it signs too. All four columns of it are null otherwise. */
  @Column('bytea', { name: 'previous_secret_ciphertext', nullable: true, select: false })
  previousSecretCiphertext: Buffer | null;

  @Column('text', { name: 'previous_secret_key_id', nullable: true, select: false })
  previousSecretKeyId: string | null;

  /** End of the previous secret, by the database's clock. Once it is past, the secret signs nothing. */
  @Column('timestamptz', { name: 'previous_secret_ends_at', nullable: true })
  previousSecretEndsAt: Date | null;

  /** Whether `x-service-signature` is made with the previous secret until its end. */
  @Column('boolean', { name: 'previous_secret_signs_service', nullable: true })
  previousSecretSignsService: boolean | null;

  /** Type of the actor who made the endpoint; null if it was made before this was noted. */
  @Column('text', { name: 'made_by_type', nullable: true })
  madeByType: Actor['type'] | null;

  /** Agent or key that made the endpoint; null for all others. A key may be deleted by now. */
  @Column('uuid', { name: 'made_by_id', nullable: true })
  madeById: string | null;

  /** Type of the actor who set the URL last, as `madeByType`. */
  @Column('text', { name: 'url_set_by_type', nullable: true })
  urlSetByType: Actor['type'] | null;

  /** Agent or key that set the URL last, as `madeById`. */
  @Column('uuid', { name: 'url_set_by_id', nullable: true })
  urlSetById: string | null;

  /** Type of the actor who rolled the secret last; null if it is the first secret, as far as is known. */
  @Column('text', { name: 'secret_rolled_by_type', nullable: true })
  secretRolledByType: Actor['type'] | null;

  /** Agent or key that rolled the secret last, as `madeById`. */
  @Column('uuid', { name: 'secret_rolled_by_id', nullable: true })
  secretRolledById: string | null;

  @Column('boolean')
  active: boolean;

  /** Number of the present activation. A pending delivery names the activation that is owed it. */
  @Column('integer')
  activation: number;

  /**
   * Time of the latest activation, by the database's clock. The endpoint gets events that were appended
   * later.
   */
  @Column('timestamptz', { name: 'activated_at' })
  activatedAt: Date;

  /** Number of the present settings. Each edit adds one. */
  @Column('integer')
  version: number;

  /** Limit of deliveries a second, over all workers; null for none. */
  @Column('integer', { name: 'rate_limit', nullable: true })
  rateLimit: number | null;

  /** Time of the first failure since the last success; null without one. */
  @Column('timestamptz', { name: 'failing_since', nullable: true })
  failingSince: Date | null;

  /** Time of the last success, to the minute. */
  @Column('timestamptz', { name: 'last_success_at', nullable: true })
  lastSuccessAt: Date | null;

  /** Reason for which the service deactivated the endpoint; null if it did not. */
  @Column('text', { name: 'deactivation_reason', nullable: true })
  deactivationReason: DeactivationReason | null;

  /** Time at which the service deactivated the endpoint; null if it did not. */
  @Column('timestamptz', { name: 'deactivated_at', nullable: true })
  deactivatedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** Time of the deletion. The row of a deleted endpoint is kept until its last delivery expires. */
  @Column('timestamptz', { name: 'deleted_at', nullable: true })
  deletedAt: Date | null;
}
