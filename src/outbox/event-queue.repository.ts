import { Injectable } from '@nestjs/common';
import { idFloor } from '../common/ids';
import { Database, Reader } from '../database/database';
import { isDivisionByZero } from '../database/driver/database-errors';
import { Batch, expectOneRow, listsOf, selectForEach, workspaceOf, writtenOnce } from '../database/key-list';
import { columnNamesOf, columnsOf, rowsToInsert } from '../database/rows-to-insert';
import { Pipelined, Transaction } from '../database/transaction';
import { QueueFloors, SubQueue } from '../queue/floors/queue-floors';
import { savedFirstEvent } from '../queue/floors/queue-floors.repository';
import { EventType } from './event-catalog';

/** Duration of a lease. The first attempts to deliver an event take less time. */
const LEASE = `interval '20 seconds'`;
/** Number of the oldest queued events that `listLeased` reads. Few are leased, and the oldest first. */
const MAX_LEASED = 2_000;

/**
 * Returns the WITH clause of an SQL statement about leases of events. It deletes the queue rows of leases
 * that end, and locks the queue rows of leases that go on. Its table `settled` lists the leases that are
 * still valid.
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
const listSettledIn = writtenOnce(
  (batch) => `${settleIn(batch)} SELECT event_id AS "eventId", lease_id AS "leaseId" FROM settled`,
);
const requireSettledIn = writtenOnce(
  (batch) => `${settleIn(batch)} SELECT 1 / (count(*) = $5)::integer FROM settled`,
);

const claimIn = (batch: Batch, handleSql?: ClaimHandler['handleSql']) => `
  WITH due AS (${selectForEach(
    { tenant_id: ['uuid', '$1'], count: ['integer', '$2'], first_id: ['uuid', '$4'] },
    batch,
    // Locks the workspace's oldest events that have no valid lease, from `first_id` on.
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
  ), claimed AS (
    SELECT e.*, l.queued_at, l.was_leased
    FROM leased l JOIN events e ON e.tenant_id = ${workspaceOf('l', '$1', batch)} AND e.id = l.event_id
  ), handled AS (
    ${handleSql?.(batch) ?? 'SELECT NULL::uuid AS event_id, NULL AS result'}
  )
  SELECT c.id, c.tenant_id AS "tenantId", c.type, c.data::text, c.sequence, c.created_at AS "createdAt",
         c.queued_at AS "queuedAt", c.was_leased AS "wasLeased", handled.result
  FROM claimed c LEFT JOIN handled ON handled.event_id = c.id`;

/** Consumer that handles some events as they are claimed, so that they need no further statement. */
export interface ClaimHandler {
  /**
   * Returns SQL of a part of the claim. It reads the claimed events from `claimed`, which has the columns of
   * `events`. It returns the `event_id` of each event that it handled, and a text `result` for the consumer.
   */
  readonly handleSql?: (batch: Batch) => string;
}

export interface AppendedEvent {
  tenantId: string;
  id: string;
  conversationId?: string | null;
  /** Contact that an `audit.event` is about. */
  contactId?: string | null;
}

export interface OutboxEvent {
  id: string;
  tenantId: string;
  type: EventType;
  data: string;
  /** Number of the event within its conversation; null if its type is not numbered. */
  sequence: string | null;
  createdAt: Date;
}

export interface ClaimedEvent extends OutboxEvent {
  /** Id of the event's lease; null for a parked event, which is not in the queue when it is retried. */
  leaseId: string | null;
  /** Time at which the event was queued, by the database's clock. */
  queuedAt: Date;
  /** Result of the SQL of `handleSql` that has handled the event; null if none has. */
  result: string | null;
  /** Whether an earlier lease of the event expired: some of its deliveries may be recorded already. */
  wasLeased: boolean;
}

/** Lease of an event. Each claim of the event makes a new lease id. */
export interface EventLease {
  tenantId: string;
  eventId: string;
  leaseId: string;
}

/**
 * Stores events, and a queue of the events that must be relayed to consumers. An event's row in the queue is
 * deleted when every consumer has processed the event and the first attempts of its deliveries are recorded.
 */
@Injectable()
export class EventQueueRepository {
  /** SQL of claims, by the `handleSql` that is a part of it. */
  private readonly claims = new Map<ClaimHandler['handleSql'], string>();

  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
  ) {}

  insertPipelined(tx: Transaction, event: OutboxEvent, isQueued: boolean): Pipelined {
    const { tenantId, id, type, data, sequence, createdAt } = event;
    const inserted = tx.pipeline(
      'INSERT INTO events (tenant_id, id, type, data, sequence, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
      [tenantId, id, type, data, sequence, createdAt],
    );
    if (!isQueued) return inserted;
    return tx.pipeline('INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)', [tenantId, id]);
  }

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
   * Leases each workspace's oldest events without a valid lease, up to the workspace's limit. Leaves out
   * events that were queued after the transaction began, because the consumers may have read the
   * subscriptions before.
   */
  async claim(
    tx: Transaction,
    limits: Map<string, number>,
    leaseId: string,
    handler?: ClaimHandler,
  ): Promise<ClaimedEvent[]> {
    const tenantIds = [...limits.keys()];
    const rows = await tx.prepared<Omit<ClaimedEvent, 'leaseId'>>(this.claimWith(handler?.handleSql), [
      tenantIds,
      [...limits.values()],
      leaseId,
      tenantIds.map((tenantId) => idFloor(this.floors.startOfClaim(subQueueOf(tenantId)))),
    ]);
    return rows.map((row) => Object.assign(row, { leaseId }));
  }

  private claimWith(handleSql: ClaimHandler['handleSql']): string {
    const sql = this.claims.get(handleSql) ?? claimIn(this.database, handleSql);
    this.claims.set(handleSql, sql);
    return sql;
  }

  /**
   * Ends the leases of claimed events at once, because no work for them has started. An event that was leased
   * before keeps its lease id, so that the next claim knows.
   */
  async giveBack(tx: Transaction, events: ClaimedEvent[]): Promise<void> {
    await tx.prepared(
      `UPDATE event_queue q SET lease_id = CASE WHEN e.was_leased THEN q.lease_id END, lease_until = 'epoch'
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[]) AS e (tenant_id, event_id, lease_id, was_leased)
       WHERE q.tenant_id = ${workspaceOf('e', '$1', this.database)} AND q.event_id = e.event_id
         AND q.lease_id = e.lease_id AND ${expectOneRow('e', 'event_id')}`,
      listsOf(events, 'tenantId', 'id', 'leaseId', 'wasLeased'),
    );
  }

  /**
   * Deletes the queue rows of `ended` leases, and locks the queue rows of `ongoing` leases until the
   * transaction ends.
   * @returns keys of the leases that are still valid; the transaction may record deliveries for these leases
   *   only
   */
  async settle(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Promise<Set<string>> {
    const rows = await tx.prepared<Omit<EventLease, 'tenantId'>>(
      listSettledIn(this.database),
      listLeases(ended, ongoing),
    );
    return new Set(rows.map(leaseKeyOf));
  }

  /** Settles leases as `settle` does, but fails the transaction if a lease is not valid (`isLeaseLost`). */
  settleAllPipelined(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Pipelined {
    return tx.pipeline(requireSettledIn(this.database), [
      ...listLeases(ended, ongoing),
      ended.length + ongoing.length,
    ]);
  }

  /** Lists the events with a valid lease among the workspace's 2,000 oldest queued events. */
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

  /** Returns when each of the events was queued, by event id. Leaves out events that have left the queue. */
  async findQueuedTimes(reader: Reader, tenantId: string, ids: string[]): Promise<Map<string, Date>> {
    const rows = await reader.query<{ id: string; queuedAt: Date }>(
      'SELECT event_id AS id, queued_at AS "queuedAt" FROM event_queue WHERE tenant_id = $1 AND event_id = ANY ($2)',
      [tenantId, ids],
    );
    return new Map(rows.map(({ id, queuedAt }) => [id, queuedAt]));
  }
}

/** Returns the lease of an event that was claimed from the queue. */
export function leaseOf({ tenantId, id: eventId, leaseId }: ClaimedEvent): EventLease {
  return { tenantId, eventId, leaseId: leaseId! };
}

export function subQueueOf(tenantId: string): SubQueue {
  return { queue: 'events', tenantId, key: '' };
}

/** Returns a key of a lease. An event's id is not enough, because a batch may have two leases of it. */
export function leaseKeyOf({ eventId, leaseId }: Omit<EventLease, 'tenantId'>): string {
  return eventId + leaseId;
}

/** Reports whether `settleAllPipelined` failed a transaction because a lease was not valid any more. */
export function isLeaseLost(error: unknown): boolean {
  return isDivisionByZero(error);
}

function listLeases(ended: EventLease[], ongoing: EventLease[]): unknown[] {
  const leases = [...ended, ...ongoing];
  return [...listsOf(leases, 'tenantId', 'eventId', 'leaseId'), leases.map((_, n) => n < ended.length)];
}
