import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../database/placement/placement';
import { Database } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../queue/polling/due-position';
import { ClaimedEvent } from './event-queue.repository';

/** Event that a consumer could not process. It waits for an operator. */
export interface ParkedEvent {
  tenantId: string;
  eventId: string;
  consumer: string;
  error: string;
  /** Time at which the event was queued, by the database's clock. */
  queuedAt: Date;
  parkedAt: Date;
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

  /** Lists up to 1,000 parked events of a server for which an operator has made a request, oldest first. */
  findRequested(after: DuePosition, server: WorkspaceServer): Promise<DueStep<ParkedEventKey>> {
    return searchDue<ParkedEventKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", event_id AS "eventId", consumer, try_at::text AS "dueAt"
       FROM parked_events WHERE request IS NOT NULL AND try_at <= now() AND try_at >= $1::timestamptz
       ORDER BY try_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /** Deletes and returns a parked event. Returns null if it has no request of an operator, or is locked. */
  async takeRequested(
    tx: Transaction,
    { tenantId, eventId, consumer }: ParkedEventKey,
  ): Promise<ParkedEvent | null> {
    const [parked] = await tx.query<ParkedEvent>(
      `DELETE FROM parked_events WHERE tenant_id = $1 AND (event_id, consumer) IN (
         SELECT event_id, consumer FROM parked_events
         WHERE ${BY_KEY} AND request IS NOT NULL FOR UPDATE SKIP LOCKED)
       RETURNING ${COLUMNS}`,
      [tenantId, eventId, consumer],
    );
    return parked ?? null;
  }

  /** Stores the error of a failed retry, and deletes the operator's request. */
  async recordFailure({ tenantId, eventId, consumer }: ParkedEventKey, error: string): Promise<void> {
    await this.database.query(`UPDATE parked_events SET error = $4, request = NULL WHERE ${BY_KEY}`, [
      tenantId,
      eventId,
      consumer,
      error,
    ]);
  }

  /** Erases the error texts of parked events, because they may quote a message. */
  async erase(tx: Transaction, { tenantId, eventIds }: ErasedMessages): Promise<void> {
    await tx.query(`UPDATE parked_events SET error = 'erased' WHERE tenant_id = $1 AND event_id = ANY ($2)`, [
      tenantId,
      eventIds,
    ]);
  }
}
