import { Injectable } from '@nestjs/common';
import { idFloor, idTime, isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { isDivisionByZero } from '../database/driver/database-errors';
import { expectOneRow, workspaceOf, Batch } from '../database/key-list';
import { Place } from '../database/citus/places';
import { InsertedColumn, rowsToInsert } from '../database/rows-to-insert';
import { Pipelined, Transaction } from '../database/transaction';
import { QueueFloors, SubQueue } from '../queue/floors/queue-floors';
import { savedFirstEvent } from '../queue/floors/queue-floors.repository';
import { ContactKey, ErasedMessages } from '../database/tables/table-declaration';
import { erasedData, EventType } from './event-catalog';

/**
 * Duration of a lease, longer than a first attempt can take. After it, another worker takes the event, for
 * example that of a killed one.
 */
const LEASE = `interval '20 seconds'`;
/** Number of workspaces that one step of a search over all of them looks at. */
const STEP_WORKSPACES = 1_000;
/**
 * Number of a workspace's leased events that one read returns at most. There are few, because each has a slot
 * of a worker.
 */
const MAX_LEASED = 2_000;

/** Condition that an event is of a contact's profile, which an index has. */
const OF_PROFILE = `type IN ('contact.created', 'contact.updated')`;

const LIST_WORKSPACES = `SELECT id, now() AS now FROM workspaces WHERE id > $1 ORDER BY id LIMIT ${STEP_WORKSPACES}`;
/** SQL that looks up one workspace after the other in the queue, however many events each has. */
const LIST_QUEUED_WORKSPACES = `
  WITH RECURSIVE queued AS (
    (SELECT tenant_id, 1 AS n FROM event_queue WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, n + 1 FROM queued, LATERAL (
      SELECT tenant_id FROM event_queue WHERE tenant_id > queued.tenant_id ORDER BY tenant_id LIMIT 1) next
    WHERE n < ${STEP_WORKSPACES}
  )
  SELECT tenant_id AS id, now() AS now FROM queued ORDER BY n`;

/** Returns SQL that ends leases, or locks what they lease. It names those that were still valid `settled`. */
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

/** Returns SQL that locks the oldest free events of a workspace, from its first event on. */
const lockFree = (tenantId: string, count: string, firstId: string) => `
  SELECT tenant_id, event_id, lease_id FROM event_queue
  WHERE tenant_id = ${tenantId} AND event_id >= ${firstId}
    AND (lease_until IS NULL OR lease_until < now()) AND queued_at <= now()
  ORDER BY event_id LIMIT ${count} FOR UPDATE SKIP LOCKED`;
const claimIn = (batch: Batch) => `
  WITH due AS (${
    batch.spansWorkspaces
      ? `SELECT q.* FROM unnest($1::uuid[], $2::integer[], $4::uuid[]) AS turn (tenant_id, count, first_id),
         LATERAL (${lockFree('turn.tenant_id', 'turn.count', 'turn.first_id')}) q`
      : lockFree('($1::uuid[])[1]', '($2::integer[])[1]', '($4::uuid[])[1]')
  }), leased AS (
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

type ErasableEvent = Pick<OutboxEvent, 'id' | 'type' | 'data'>;

/** Range of ids, both bounds exclusive. */
export interface IdRange {
  after: string;
  before: string;
}

/** Names one lease of one event. Each claim of the event has a lease id of its own. */
export interface EventLease {
  tenantId: string;
  eventId: string;
  leaseId: string;
}

/**
 * Stores events and their queue. An event's row in the queue ends when every consumer has taken the event in
 * and its first attempts are recorded.
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
    const tenantIds = { name: 'tenant_id', type: 'uuid', values: events.map(({ tenantId }) => tenantId) };
    const ids = events.map(({ id }) => id);
    const columns: InsertedColumn[] = [
      tenantIds,
      { name: 'id', type: 'uuid', values: ids },
      { name: 'type', type: 'text', values: events.map(({ type }) => type) },
      { name: 'data', type: 'json', values: events.map(({ data }) => data) },
      { name: 'sequence', type: 'bigint', values: events.map(({ sequence }) => sequence) },
      { name: 'created_at', type: 'timestamptz', values: events.map(({ createdAt }) => createdAt) },
    ];
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(`INSERT INTO events (tenant_id, id, type, data, sequence, created_at) ${rows}`, parameters);
    const queued = [tenantIds, { name: 'event_id', type: 'uuid', values: ids }];
    for (const { rows, parameters } of rowsToInsert(queued, this.database))
      tx.pipeline(`INSERT INTO event_queue (tenant_id, event_id) ${rows}`, parameters);
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
      [events.map(({ tenantId }) => tenantId), events.map(({ id }) => id)],
    );
  }

  /**
   * Removes the events of `ended` leases from the queue, and locks those of `ongoing` leases until the
   * transaction's end.
   * @returns the keys of the leases that were still valid: only for these may the transaction record
   *   deliveries
   */
  async settle(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Promise<Set<string>> {
    const rows = await tx.prepared<Omit<EventLease, 'tenantId'>>(
      `${settleIn(this.database)} SELECT event_id AS "eventId", lease_id AS "leaseId" FROM settled`,
      columnsOf(ended, ongoing),
    );
    return new Set(rows.map(leaseKeyOf));
  }

  /**
   * Does what `settle` does if all of the leases are valid. Otherwise the transaction fails; see
   * `isLeaseLost`.
   */
  settleAllPipelined(tx: Transaction, ended: EventLease[], ongoing: EventLease[]): Pipelined {
    return tx.pipeline(`${settleIn(this.database)} SELECT 1 / (count(*) = $5)::integer FROM settled`, [
      ...columnsOf(ended, ongoing),
      ended.length + ongoing.length,
    ]);
  }

  /**
   * Makes a step of a search of a place for workspaces with free events, and notes where the events of each
   * begin.
   * @returns the workspaces, and where the next step begins; null after the last
   */
  async findWorkspaces(after: string, place: Place): Promise<{ tenantIds: string[]; next: string | null }> {
    const list = this.floors.areUsed ? LIST_WORKSPACES : LIST_QUEUED_WORKSPACES;
    const workspaces = await this.database.searchIn<{ id: string; now: Date }>(place, list, [after], {
      order: ({ id }) => [id],
      limit: STEP_WORKSPACES,
      times: ['now'],
    });
    const ids = workspaces.map(({ id }) => id);
    const queued = await this.findFirst(ids, place);
    // Read before the queue: an event that is queued later is above this floor.
    for (const { id, now } of workspaces) {
      const first = queued.get(id);
      this.floors.update(subQueueOf(id), first ? idTime(first.eventId) : now);
    }
    const tenantIds = ids.filter((id) => queued.get(id)?.hasFree);
    return { tenantIds, next: ids.length === STEP_WORKSPACES ? ids.at(-1)! : null };
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

  /** Lists the next events of a range of ids, of any type. */
  listNext(
    reader: Reader,
    tenantId: string,
    { after, before }: IdRange,
    count: number,
  ): Promise<Pick<OutboxEvent, 'id' | 'type'>[]> {
    return reader.query(
      'SELECT id, type FROM events WHERE tenant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4',
      [tenantId, after, before, count],
    );
  }

  /** Lists the ids of a conversation's events at or below an id, newest first. */
  async listIdsByConversation(
    reader: Reader,
    tenantId: string,
    conversationId: string,
    last: string,
    count: number,
  ): Promise<string[]> {
    const rows = await reader.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND id <= $3
       ORDER BY id DESC LIMIT $4`,
      [tenantId, conversationId, last, count],
    );
    return rows.map(({ id }) => id);
  }

  /** Lists the ids of the next events of a contact's profile, oldest first. */
  async listNextIdsByContact(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    { after, before }: IdRange,
    count: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND data->>'contactId' = $2 AND id > $3 AND id < $4
         AND ${OF_PROFILE}
       ORDER BY id LIMIT $5`,
      [tenantId, contactId, after, before, count],
    );
    return rows.map(({ id }) => id);
  }

  /** Lists the ids of the next events of a conversation, oldest first. */
  async listNextIdsByConversation(
    tx: Transaction,
    tenantId: string,
    conversationId: string,
    { after, before }: IdRange,
    count: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND id > $3 AND id < $4
       ORDER BY id LIMIT $5`,
      [tenantId, conversationId, after, before, count],
    );
    return rows.map(({ id }) => id);
  }

  async belongsToConversation(
    reader: Reader,
    tenantId: string,
    id: string,
    conversationId: string,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await reader.query(
      `SELECT FROM events WHERE tenant_id = $1 AND id = $2 AND data->>'conversationId' = $3`,
      [tenantId, id, conversationId],
    );
    return rows.length > 0;
  }

  /**
   * Lists up to `count` of the latest events of each workspace with ids above `after`, the latest first. It
   * leaves out workspaces whose node does not answer within a second.
   */
  async listLatest(tenantIds: string[], after: string, count: number): Promise<AppendedEvent[]> {
    const events = await this.database.readInPlaces<AppendedEvent>(
      `SELECT tenants.id AS "tenantId", latest.id, latest."conversationId", latest."contactId"
       FROM unnest($1::uuid[]) AS tenants (id) CROSS JOIN LATERAL (
         SELECT id, coalesce(data->>'conversationId', data->'metadata'->>'conversationId') AS "conversationId",
           CASE WHEN data->>'entity' = 'contact' THEN data->>'entityId' END AS "contactId"
         FROM events
         WHERE events.tenant_id = tenants.id AND events.id > $2 ORDER BY events.id DESC LIMIT $3) AS latest
       ORDER BY latest.id`,
      [tenantIds, after, count],
      { order: ({ id }) => [id], lists: 1 },
    );
    return events.reverse();
  }

  /** Returns those of the events that the workspace has. */
  find(reader: Reader, tenantId: string, ids: string[]): Promise<OutboxEvent[]> {
    return reader.query<OutboxEvent>(
      `SELECT id, tenant_id AS "tenantId", type, data::text, sequence, created_at AS "createdAt"
       FROM events WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, ids],
    );
  }

  /**
   * Erases the texts in the events of messages, which have the ids of their messages; and, with a contact,
   * its profile in its own.
   */
  async erase(
    tx: Transaction,
    { tenantId, ids: ofMessages, eventIds, withContact }: ErasedMessages,
  ): Promise<void> {
    const ids = withContact ? eventIds : ofMessages;
    if (ids.length === 0) return;
    const events = await tx.query<ErasableEvent>(
      'SELECT id, type, data::text FROM events WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenantId, ids],
    );
    await this.eraseData(tx, tenantId, events);
  }

  /**
   * Erases a contact's profile in up to `count` of its newest events, but for those that a worker is erasing
   * at the moment. The caller holds the contact's lock, so that no event with the profile comes after them.
   */
  async eraseNewestOfContact(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    count: number,
  ): Promise<void> {
    const events = await tx.query<ErasableEvent>(
      `SELECT id, type, data::text FROM events WHERE tenant_id = $1 AND data->>'contactId' = $2 AND ${OF_PROFILE}
       ORDER BY id DESC LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, contactId, count],
    );
    await this.eraseData(tx, tenantId, events);
  }

  private async eraseData(tx: Transaction, tenantId: string, events: ErasableEvent[]): Promise<void> {
    const erased = events
      .map(({ id, type, data }) => ({
        id,
        data,
        left: JSON.stringify(erasedData(type, JSON.parse(data) as object)),
      }))
      .filter(({ data, left }) => left !== data);
    if (erased.length === 0) return;
    await tx.query(
      `UPDATE events SET data = ($3::text[])[array_position($2::uuid[], id)]::json
       WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, erased.map(({ id }) => id), erased.map(({ left }) => left)],
    );
  }

  /** Returns the first queued event of each workspace that has one, and whether any of its events is free. */
  private async findFirst(
    tenantIds: string[],
    place: Place,
  ): Promise<Map<string, { eventId: string; hasFree: boolean }>> {
    if (tenantIds.length === 0) return new Map();
    const rows = await this.database.searchIn<{ tenantId: string; eventId: string; hasFree: boolean }>(
      place,
      `SELECT w.tenant_id AS "tenantId", first.event_id AS "eventId",
                EXISTS (SELECT FROM event_queue q WHERE q.tenant_id = w.tenant_id AND q.event_id >= first.event_id
                          AND (q.lease_until IS NULL OR q.lease_until < now())) AS "hasFree"
         FROM unnest($1::uuid[], $2::uuid[]) AS w (tenant_id, first_id), LATERAL (
           SELECT event_id FROM event_queue WHERE tenant_id = w.tenant_id AND event_id >= w.first_id
           ORDER BY event_id LIMIT 1) first`,
      [tenantIds, tenantIds.map((id) => idFloor(this.floors.startOfSearch(subQueueOf(id))))],
      { order: ({ tenantId }) => [tenantId], lists: 2 },
    );
    return new Map(rows.map(({ tenantId, ...first }) => [tenantId, first]));
  }
}

function subQueueOf(tenantId: string): SubQueue {
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

function columnsOf(ended: EventLease[], ongoing: EventLease[]): unknown[] {
  const leases = [...ended, ...ongoing];
  return [
    leases.map(({ tenantId }) => tenantId),
    leases.map(({ eventId }) => eventId),
    leases.map(({ leaseId }) => leaseId),
    leases.map((_, n) => n < ended.length),
  ];
}
