import { Column, Entity, PrimaryColumn } from 'typeorm';

export type WebhookRecoveryStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED';

/** A filter as JSON: with dates as text. */
export type StoredFilter = Record<string, string>;

/** The progress of one recovery, so that any worker can continue it. */
@Entity('webhook_recoveries')
export class WebhookRecoveryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: string;

  /** What is delivered again: all that matches it. Null for what was missed. */
  @Column('jsonb', { nullable: true })
  filter: StoredFilter | null;

  /** Inclusive; null with a filter without one. */
  @Column('timestamptz', { nullable: true })
  since: Date | null;

  /** The start of the recovery: later events are delivered anyway. */
  @Column('timestamptz')
  until: Date;

  @Column('text')
  status: WebhookRecoveryStatus;

  /** Deliveries, as counted at the start. */
  @Column('integer')
  total: number;

  /** False when there were too many to count. */
  @Column('boolean', { name: 'is_total_complete' })
  isTotalComplete: boolean;

  @Column('integer')
  recovered: number;

  /** The last event that was checked, or with a filter the last delivery. */
  @Column('uuid')
  cursor: string;

  /** As an audit.event names its actor; null for those of an earlier version. */
  @Column('text', { name: 'started_by', nullable: true })
  startedBy: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
