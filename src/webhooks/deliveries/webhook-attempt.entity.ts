import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AttemptError } from '../sending/attempt-outcome';

/** One POST and its outcome. */
@Entity('webhook_attempts')
export class WebhookAttemptEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid', { name: 'delivery_id' })
  deliveryId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('timestamptz', { name: 'attempted_at' })
  attemptedAt: Date;

  @Column('integer', { name: 'duration_ms' })
  durationMs: number;

  @Column('smallint', { name: 'status_code', nullable: true })
  statusCode: number | null;

  @Column('text', { nullable: true })
  error: AttemptError | null;

  @Column('text', { name: 'error_message', nullable: true })
  errorMessage: string | null;

  /** The first 16 KiB of the response body, as bytes: PostgreSQL rejects a NUL in text. */
  @Column('bytea', { nullable: true, select: false })
  response: Buffer | null;

  /** Milliseconds of the phases that set up a connection; null when the attempt reused one. */
  @Column('real', { name: 'lookup_ms', nullable: true })
  lookupMs: number | null;

  @Column('real', { name: 'connect_ms', nullable: true })
  connectMs: number | null;

  @Column('real', { name: 'tls_ms', nullable: true })
  tlsMs: number | null;

  /** Milliseconds from the attempt's start to the response's headers. */
  @Column('real', { name: 'first_byte_ms', nullable: true })
  firstByteMs: number | null;
}
