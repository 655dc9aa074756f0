import { Column, Entity, PrimaryColumn } from 'typeorm';

export type WebhookRecoveryStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED';

/** Filter as JSON, with dates as text. */
export type StoredFilter = Record<string, string | boolean>;

/** Progress of one recovery, so that any worker can continue it. */
@Entity('webhook_recoveries')
export class WebhookRecoveryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: string;

  /** Filter of the deliveries to be repeated; null for a recovery of missed events. */
  @Column('jsonb', { nullable: true })
  filter: StoredFilter | null;

  /** Earliest time of an event, inclusive; null for a filter without that bound. */
  @Column('timestamptz', { nullable: true })
  since: Date | null;

  /**
   * Time at which the recovery was started. It repeats no later event, because later events are delivered
   * anyway.
   */
  @Column('timestamptz')
  until: Date;

  /** Whether deliveries are still being made, all are made, or it was ended before that. */
  @Column('text')
  status: WebhookRecoveryStatus;

  /** Number of deliveries, counted at the start. */
  @Column('integer')
  total: number;

  /** Whether all deliveries were counted; false if counting stopped because there were too many. */
  @Column('boolean', { name: 'is_total_complete' })
  isTotalComplete: boolean;

  /** Number of deliveries made so far. */
  @Column('integer')
  recovered: number;

  /**
   * Number of them that succeeded, that were given up, and that were cancelled; all null for a recovery of an
   * earlier version.
   */
  @Column('integer', { nullable: true })
  succeeded: number | null;

  @Column('integer', { nullable: true })
  exhausted: number | null;

  @Column('integer', { nullable: true })
  cancelled: number | null;

  /** Whether none of its deliveries is pending, or will be. */
  @Column('boolean', { name: 'is_settled' })
  isSettled: boolean;

  /** Last event that was checked, or last delivery for a recovery with a filter. */
  @Column('uuid')
  cursor: string;

  /** Actor as an `audit.event` names it; null for a recovery of an earlier version. */
  @Column('text', { name: 'started_by', nullable: true })
  startedBy: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Time at which it was cancelled, all deliveries were made, or the last of them ended. */
  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
