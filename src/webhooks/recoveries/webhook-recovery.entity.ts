import { Column, Entity, PrimaryColumn } from 'typeorm';

export type WebhookRecoveryStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED';

/** One run that delivers again what an endpoint never got. This row is its progress, so it can go on after any stop. */
@Entity('webhook_recoveries')
export class WebhookRecoveryEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'tenant_id' })
  tenantId: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: string;

  /** Events from this moment on … */
  @Column('timestamptz')
  since: Date;

  /** … to this one: what happens later is delivered anyway. */
  @Column('timestamptz')
  until: Date;

  @Column('text')
  status: WebhookRecoveryStatus;

  /** Events to deliver again, as counted at the start. */
  @Column('integer')
  total: number;

  /** Deliveries made pending so far. */
  @Column('integer')
  recovered: number;

  /** The last event looked at. */
  @Column('uuid')
  cursor: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
