import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type EventType } from './event-catalog';

/** A domain event in the outbox: commits with the change that it reports, and is relayed afterwards. */
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

  /** Its number within its conversation, a bigint as text; null without a conversation. */
  @Column('bigint', { nullable: true })
  sequence: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** When all consumers had taken it; null while it waits. */
  @Column('timestamptz', { name: 'relayed_at', nullable: true })
  relayedAt: Date | null;
}
