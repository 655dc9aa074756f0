import { Column, Entity, PrimaryColumn } from 'typeorm';

export type WebhookRecoveryStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED';

/** The progress of one recovery, so that any worker can continue it. */
@Entity('webhook_recoveries')
export class WebhookRecoveryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: string;

  /** Inclusive. */
  @Column('timestamptz')
  since: Date;

  /** The start of the recovery: later events are delivered anyway. */
  @Column('timestamptz')
  until: Date;

  @Column('text')
  status: WebhookRecoveryStatus;

  /** Missed events, as counted at the start. */
  @Column('integer')
  total: number;

  @Column('integer')
  recovered: number;

  /** The last event that was checked. */
  @Column('uuid')
  cursor: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
