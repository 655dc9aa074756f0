import { Column, Entity, PrimaryColumn } from 'typeorm';

export const WEBHOOK_DELIVERY_STATUSES = ['PENDING', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED'] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/** One event for one endpoint, with its status and schedule. */
@Entity('webhook_deliveries')
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: string;

  @Column('uuid', { name: 'event_id' })
  eventId: string;

  @Column('text', { name: 'event_type' })
  eventType: string;

  @Column('text')
  status: WebhookDeliveryStatus;

  @Column('smallint', { name: 'attempt_count' })
  attemptCount: number;

  @Column('smallint', { name: 'max_attempts' })
  maxAttempts: number;

  @Column('timestamptz', { name: 'next_attempt_at' })
  nextAttemptAt: Date;

  /** Only an outcome under this lease changes the delivery. */
  @Column('uuid', { name: 'lease_id', nullable: true })
  leaseId: string | null;

  /** After it, any worker may claim the delivery. */
  @Column('timestamptz', { name: 'lease_until', nullable: true })
  leaseUntil: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
