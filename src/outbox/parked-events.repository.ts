import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';
import { ClaimedEvent } from './event-queue.repository';

const BATCH = 50;
/** Time until a request that could not be carried out is tried again. */
const RETRY = `interval '5 seconds'`;

/** Event that a consumer could not take in. */
export interface ParkedEvent {
  tenantId: string;
  eventId: string;
  consumer: string;
  /** Error of the last attempt. */
  error: string;
  /** Time at which the event was appended, by the database's clock. */
  queuedAt: Date;
  parkedAt: Date;
  /** Action that an operator has asked for; null while there is no request. */
  request: 'RETRY' | 'GIVE_UP' | null;
}

export type ParkedEventKey = Pick<ParkedEvent, 'tenantId' | 'eventId' | 'consumer'>;

const COLUMNS = `tenant_id AS "tenantId", event_id AS "eventId", consumer, error, queued_at AS "queuedAt",
  parked_at AS "parkedAt", request`;
const BY_KEY = 'tenant_id = $1 AND event_id = $2 AND consumer = $3';

@Injectable()
export class ParkedEventsRepository {
  constructor(private readonly database: Database) {}

  insertPipelined(tx: Transaction, event: ClaimedEvent, consumer: string, error: string): Pipelined {
    return tx.pipeline(
      `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [event.tenantId, event.id, consumer, error, event.queuedAt],
    );
  }

  /** Lists parked events of one workspace or of all, oldest first. */
  list(count: number, tenantId: string | null): Promise<ParkedEvent[]> {
    return this.database.query<ParkedEvent>(
      `SELECT ${COLUMNS} FROM parked_events WHERE $2::uuid IS NULL OR tenant_id = $2 ORDER BY parked_at LIMIT $1`,
      [count, tenantId],
    );
  }

  async lock(tx: Transaction, { tenantId, eventId, consumer }: ParkedEventKey): Promise<ParkedEvent | null> {
    const [parked] = await tx.query<ParkedEvent>(
      `SELECT ${COLUMNS} FROM parked_events WHERE ${BY_KEY} FOR NO KEY UPDATE`,
      [tenantId, eventId, consumer],
    );
    return parked ?? null;
  }

  async request(
    tx: Transaction,
    { tenantId, eventId, consumer }: ParkedEventKey,
    request: ParkedEvent['request'],
  ): Promise<void> {
    await tx.query(`UPDATE parked_events SET request = $4, try_at = now() WHERE ${BY_KEY}`, [
      tenantId,
      eventId,
      consumer,
      request,
    ]);
  }

  /** Lists events with a request to be tried now, the longest due first. */
  findRequested(): Promise<ParkedEvent[]> {
    return this.database.placement.searchAll<ParkedEvent & { dueAt: Date }>(
      `SELECT ${COLUMNS}, try_at AS "dueAt" FROM parked_events WHERE request IS NOT NULL AND try_at <= now()
       ORDER BY try_at LIMIT ${BATCH}`,
      { order: ({ dueAt }) => [dueAt], limit: BATCH, times: ['dueAt', 'queuedAt', 'parkedAt'] },
    );
  }

  /** Has a request wait for its next try, behind those that are due. */
  async postpone({ tenantId, eventId, consumer }: ParkedEventKey): Promise<void> {
    await this.database.query(`UPDATE parked_events SET try_at = now() + ${RETRY} WHERE ${BY_KEY}`, [
      tenantId,
      eventId,
      consumer,
    ]);
  }

  /**
   * Deletes a parked event.
   * @returns false when it is gone, or another process has it locked
   */
  async deleteIfFree(tx: Transaction, { tenantId, eventId, consumer }: ParkedEventKey): Promise<boolean> {
    const rows = await tx.query(
      `DELETE FROM parked_events WHERE tenant_id = $1 AND (event_id, consumer) IN (
         SELECT event_id, consumer FROM parked_events WHERE ${BY_KEY} FOR UPDATE SKIP LOCKED)
       RETURNING 1`,
      [tenantId, eventId, consumer],
    );
    return rows.length > 0;
  }

  /** Records that a retry has failed. The event waits for the operator again. */
  async recordFailure({ tenantId, eventId, consumer }: ParkedEventKey, error: string): Promise<void> {
    await this.database.query(`UPDATE parked_events SET error = $4, request = NULL WHERE ${BY_KEY}`, [
      tenantId,
      eventId,
      consumer,
      error,
    ]);
  }

  /** Erases the errors of parked events, which may quote a message. */
  async erase(tx: Transaction, { tenantId, eventIds }: ErasedMessages): Promise<void> {
    await tx.query(`UPDATE parked_events SET error = 'erased' WHERE tenant_id = $1 AND event_id = ANY ($2)`, [
      tenantId,
      eventIds,
    ]);
  }
}
