import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type EventType } from './event-catalog';

/** A domain event in the outbox: committed with the change it tells of, and relayed afterwards. */
@Entity('events')
export class EventEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  type: EventType;

  @Column('json')
  data: object;

  /** Its place among the events of its conversation (a bigint, so text); null for what is of no conversation. */
  @Column('bigint', { nullable: true })
  sequence: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** When every consumer had taken it; null while it waits. */
  @Column('timestamptz', { name: 'relayed_at', nullable: true })
  relayedAt: Date | null;
}
