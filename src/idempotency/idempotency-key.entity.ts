import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Row of a key from the header `Idempotency-Key`, with the request's hash and its response. It is kept for 24
 * hours.
 */
@Entity('idempotency_keys')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('text')
  key: string;

  /** SHA-256 of the request's method, path and body. Another request with the same key is a conflict. */
  @Column('bytea')
  fingerprint: Buffer;

  @Column('json', { nullable: true })
  response: object | null;

  /** Conversation whose message the response contains; null for other responses. */
  @Column('uuid', { name: 'conversation_id', nullable: true })
  conversationId: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
