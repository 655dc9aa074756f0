import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The response to a request with an `Idempotency-Key`, kept for 24 hours. */
@Entity('idempotency_keys')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('text')
  key: string;

  /** SHA-256 of the request: the same key with another request is a conflict. */
  @Column('bytea')
  fingerprint: Buffer;

  @Column('json', { nullable: true })
  response: object | null;

  /** Conversation whose message the response contains. */
  @Column('uuid', { name: 'conversation_id', nullable: true })
  conversationId: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
