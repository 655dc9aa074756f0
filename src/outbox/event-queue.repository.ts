import { Injectable } from '@nestjs/common';
import { idFloor } from '../common/ids';
import { Database, Reader } from '../database/database';
import { isDivisionByZero } from '../database/driver/database-errors';
import { Batch, expectOneRow, listsOf, selectForEach, workspaceOf } from '../database/key-list';
import { columnNamesOf, columnsOf, rowsToInsert } from '../database/rows-to-insert';
import { Pipelined, Transaction } from '../database/transaction';
import { QueueFloors, SubQueue } from '../queue/floors/queue-floors';
import { savedFirstEvent } from '../queue/floors/queue-floors.repository';
import { EventType } from './event-catalog';

/**
 * Duration of a lease, longer than a first attempt can take. After it, another worker takes the event, for
 * example that of a killed one.
 */
const LEASE = `interval '20 seconds'`;
/**
 * Number of a workspace's leased events that one read returns at most. There are few, because each has a slot
 * of a worker.
 */
const MAX_LEASED = 2_000;

/**
 * Returns SQL that ends leases, or locks the leased rows. It names the leases that were still valid
 * `settled`.
 */
const settleIn = (batch: Batch) => `
  WITH ended AS (
    DELETE FROM event_queue q USING ${LEASES}
    WHERE e.ends AND q.tenant_id = ${workspaceOf('e', '$1', batch)} AND q.event_id = e.event_id
      AND q.lease_id = e.lease_id AND ${expectOneRow('e', 'event_id')}
    RETURNING q.event_id, q.lease_id
  ), ongoing AS (
    SELECT q.event_id, q.lease_id FROM ${LEASES}
    JOIN event_queue q ON q.tenant_id = ${workspaceOf('e', '$1', batch)} AND q.event_id = e.event_id
      AND q.lease_id = e.lease_id AND ${expectOneRow('e', 'event_id')}
    WHERE NOT e.ends FOR SHARE OF q
  ), settled AS (
    SELECT event_id, lease_id FROM ended UNION ALL SELECT event_id, lease_id FROM ongoing
  )`;
const LEASES =
  'unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[]) AS e (tenant_id, event_id, lease_id, ends)';

const claimIn = (batch: Batch) => `
  WITH due AS (${selectForEach(
    { tenant_id: ['uuid', '$1'], count: ['integer', '$2'], first_id: ['uuid', '$4'] },
    batch,
    // Locks the oldest free events of a workspace, from its first event on.
    (turn) => `
    SELECT tenant_id, event_id, lease_id FROM event_queue
    WHERE tenant_id = ${turn.tenant_id} AND event_id >= ${turn.first_id}
      AND (lease_until IS NULL OR lease_until < now()) AND queued_at <= now()
    ORDER BY event_id LIMIT ${turn.count} FOR UPDATE SKIP LOCKED`,
  )}), leased AS (
    UPDATE event_queue q SET lease_id = $3, lease_until = now() + ${LEASE} FROM due
    WHERE q.tenant_id = ${workspaceOf('due', '$1', batch)} AND q.event_id = due.event_id
      AND ${expectOneRow('due', 'event_id')}
    RETURNING q.tenant_id, q.event_id, q.queued_at, due.lease_id IS NOT NULL AS was_leased
  )
  SELECT e.id, e.tenant_id AS "tenantId", e.type, e.data::text, e.sequence, e.created_at AS "createdAt",
         l.queued_at AS "queuedAt", l.was_leased AS "wasLeased"
  FROM leased l JOIN events e ON e.tenant_id = ${workspaceOf('l', '$1', batch)} AND e.id = l.event_id`;

/** Ids of an event that was committed. */
export interface AppendedEvent {
  tenantId: string;
  id: string;
  /** Conversation that the event is about; left out for events about something else. */
  conversationId?: string | null;
  /** Contact that an audit entry is about. */
  contactId?: string | null;
}

export interface OutboxEvent {
  id: string;
  tenantId: string;
  type: EventType;
  /** Data as JSON text. */
  data: string;
  /** Position of the event in its conversation; null for an event of no conversation. */
  sequence: string | null;
  createdAt: Date;
}

/** Event that was taken from the queue under a lease. */
export interface ClaimedEvent extends OutboxEvent {
  /**
   * Id of the lease; null for a parked event, which is not in the queue: its retry is one transaction and
   * needs no lease.
   */
  leaseId: string | null;
  /** Time at which the event was queued, by the database's clock. */
  queuedAt: Date;
  /** Whether an earlier lease has ended, so that a part of the event's deliveries may be recorded. */
  wasLeased: boolean;
}

/** Names one lease of one event. Each claim of the event has a lease id of its own. */
export interface EventLease {
  tenantId: string;
  eventId: string;
  leaseId: string;
}

/**
 * Inserts events, and stores their queue. The row of an event in the queue ends when every consumer has taken
 * the event in and its first attempts are recorded.
 */
@Injectable()
export class EventQueueRepository {
  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
  ) {}

  /**
   * Inserts an event.
   * @param isQueued false for an event that the caller handles itself: no consumer sees it
   */
  insertPipelined(tx: Transaction, event: OutboxEvent, isQueued: boolean): Pipelined {
    const { tenantId, id, type, data, sequence, createdAt } = event;
    const inserted = tx.pipeline(
      'INSERT INTO events (tenant_id, id, type, data, sequence, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
      [tenantId, id, type, data, sequence, createdAt],
    );
    if (!isQueued) return inserted;
    return tx.pipeline('INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)', [tenantId, id]);
  }

  /** Inserts events that consumers get. */
  insertAllPipelined(tx: Transaction, events: OutboxEvent[]): void {
    const columns = columnsOf(events, {
      tenant_id: ['uuid', ({ tenantId }) => tenantId],
      id: ['uuid', ({ id }) => id],
      type: ['text', ({ type }) => type],
      data: ['json', ({ data }) => data],
      sequence: ['bigint', ({ sequence }) => sequence],
      created_at: ['timestamptz', ({ createdAt }) => createdAt],
    });
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(`INSERT INTO events (${columnNamesOf(columns)}) ${rows}`, parameters);
    const queued = columnsOf(events, {
      tenant_id: ['uuid', ({ tenantId }) => tenantId],
      event_id: ['uuid', ({ id }) => id],
    });
    for (const { rows, parameters } of rowsToInsert(queued, this.database))
      tx.pipeline(`INSERT INTO event_queue (${columnNamesOf(queued)}) ${rows}`, parameters);
  }

  /**
   * Leases the oldest free events of each workspace, up to its limit, from the floor of its queue. Events
   * that were queued after the transaction began are left to the next one: the consumers are prepared, and
   * may not know who has subscribed since.
   */
  async claim(tx: Transaction, limits: Map<string, number>, leaseId: string): Promise<ClaimedEvent[]> {
    const tenantIds = [...limits.keys()];
    const rows = await tx.prepared<Omit<ClaimedEvent, 'leaseId'>>(claimIn(this.database), [
      tenantIds,
      [...limits.values()],
      leaseId,
      tenantIds.map((tenantId) => idFloor(this.floors.startOfClaim(subQueueOf(tenantId)))),
    ]);
    return rows.map((row) => Object.assign(row, { leaseId }));
  }

  /** Removes events that this transaction has claimed from the queue. */
  deletePipelined(tx: Transaction, events: ClaimedEvent[]): Pipelined {
    return tx.pipeline(
      `DELETE FROM event_queue q USING unnest($1::uuid[], $2::uuid[]) AS e (tenant_id, event_id)
       WHERE q.tenant_id = ${workspaceOf('e', '$1', this.database)} AND q.event_id = e.event_id
         AND ${expectOneRow('e', 'event_id')}`,
      listsOf(events, 'tenantId', 'id'),
    );
  }

  /**
   * Removes the events of `ended` leases from the queue, and locks the events of `ongoing` leases until the
   * transaction's end.
   * @returns the keys of the leases that were still valid: only for these may the transaction record
   *   deliveries
   */
  async settle(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Promise<Set<string>> {
    const rows = await tx.prepared<Omit<EventLease, 'tenantId'>>(
      `${settleIn(this.database)} SELECT event_id AS "eventId", lease_id AS "leaseId" FROM settled`,
      listLeases(ended, ongoing),
    );
    return new Set(rows.map(leaseKeyOf));
  }

  /**
   * Settles leases as `settle` does, if all of them are valid. Otherwise the transaction fails; see
   * `isLeaseLost`.
   */
  settleAllPipelined(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Pipelined {
    return tx.pipeline(`${settleIn(this.database)} SELECT 1 / (count(*) = $5)::integer FROM settled`, [
      ...listLeases(ended, ongoing),
      ended.length + ongoing.length,
    ]);
  }

  /** Lists the workspace's events under a lease, each with the conversation that it is about, if any. */
  listLeased(
    tenantId: string,
  ): Promise<(Pick<ClaimedEvent, 'id' | 'type' | 'queuedAt'> & { conversationId: string | null })[]> {
    return this.database.query(
      `SELECT e.id, e.type, q.queued_at AS "queuedAt", e.data->>'conversationId' AS "conversationId"
       FROM (SELECT event_id, queued_at, lease_until FROM event_queue
             WHERE tenant_id = $1 AND event_id >= (${savedFirstEvent('$1')})
             ORDER BY event_id LIMIT ${MAX_LEASED}) AS q
       JOIN events e ON e.tenant_id = $1 AND e.id = q.event_id
       WHERE q.lease_until > now()`,
      [tenantId],
    );
  }

  /** Returns the time of queueing of each of the events that is still in the queue. */
  async findQueuedTimes(reader: Reader, tenantId: string, ids: string[]): Promise<Map<string, Date>> {
    const rows = await reader.query<{ id: string; queuedAt: Date }>(
      'SELECT event_id AS id, queued_at AS "queuedAt" FROM event_queue WHERE tenant_id = $1 AND event_id = ANY ($2)',
      [tenantId, ids],
    );
    return new Map(rows.map(({ id, queuedAt }) => [id, queuedAt]));
  }
}

/** Names the sub-queue of a workspace's events. */
export function subQueueOf(tenantId: string): SubQueue {
  return { queue: 'events', tenantId, key: '' };
}

/**
 * Returns a key of a lease. The key contains event and lease, because a batch may hold two leases of one
 * event, one of which has ended.
 */
export function leaseKeyOf({ eventId, leaseId }: Omit<EventLease, 'tenantId'>): string {
  return eventId + leaseId;
}

/** Reports whether a transaction failed because a lease was not valid any more; see `settleAllPipelined`. */
export function isLeaseLost(error: unknown): boolean {
  return isDivisionByZero(error);
}

function listLeases(ended: EventLease[], ongoing: EventLease[]): unknown[] {
  const leases = [...ended, ...ongoing];
  return [...listsOf(leases, 'tenantId', 'eventId', 'leaseId'), leases.map((_, n) => n < ended.length)];
}
