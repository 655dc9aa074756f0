import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { listsOf, workspaceOf } from '../../database/key-list';
import { QueueFloor, SEARCH_SLACK_MS } from './queue-floors';

/** Largest number of saved floors (see `QueueFloors`) that a process loads, the latest saved ones first. */
const MAX_FLOORS = 50_000;
/** Milliseconds for which a saved floor is not overwritten, because several workers may save the same one. */
const REPLACED_AFTER_MS = 50_000;

export const RECENT_FLOOR = `SELECT 1 AS found FROM queue_floors WHERE saved_at > now() - interval '3 minutes' LIMIT 1`;

/**
 * Returns a SELECT of a UUIDv7 that is at most the id of each queued event of the workspace. It computes the
 * UUIDv7 from the floor that a worker has saved, because a process that does not claim knows no floor.
 */
export const savedFirstEvent = (tenantId: string) => `
  SELECT (lpad(to_hex(coalesce(max((extract(epoch FROM f.floor) * 1000)::bigint - ${SEARCH_SLACK_MS}), 0)), 12, '0')
          || repeat('0', 20))::uuid
  FROM queue_floors f WHERE f.tenant_id = ${tenantId} AND f.queue = 'events' AND f.part = ''`;

@Injectable()
export class QueueFloorsRepository {
  constructor(private readonly database: Database) {}

  /** Returns PostgreSQL's estimate of the dead rows in the queue table, or shard, that has the most. */
  async countDead(): Promise<number> {
    const longest = await this.database.placement.readViews<{ count: number | null }>(
      `SELECT max(n_dead_tup)::float8 AS count FROM pg_stat_user_tables
       WHERE relname ~ '^(event_queue|pending_deliveries|outbound_messages)(_[0-9]+)?$'`,
    );
    return Math.max(0, ...longest.map(({ count }) => count ?? 0));
  }

  list(since: Date): Promise<QueueFloor[]> {
    return this.database.query(
      `SELECT queue, tenant_id AS "tenantId", part AS key, floor FROM queue_floors
       WHERE saved_at >= $1 ORDER BY saved_at DESC LIMIT ${MAX_FLOORS}`,
      [since],
    );
  }

  /** Saves floors. Leaves out deleted workspaces, and floors that were saved in the last 50 seconds. */
  async save(floors: QueueFloor[]): Promise<void> {
    const now = Date.now();
    await this.database.query(
      `INSERT INTO queue_floors AS f (tenant_id, queue, part, floor, saved_at)
       SELECT w.id, queue, part, floor, $5
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) AS saved (tenant_id, queue, part, floor)
       JOIN workspaces w ON w.id = ${workspaceOf('saved', '$1', this.database)}
       ORDER BY w.id, queue, part FOR KEY SHARE OF w
       ON CONFLICT (tenant_id, queue, part) DO UPDATE SET floor = excluded.floor, saved_at = excluded.saved_at
       WHERE f.saved_at < $6`,
      [
        ...listsOf(floors, 'tenantId', 'queue', 'key', 'floor'),
        new Date(now),
        new Date(now - REPLACED_AFTER_MS),
      ],
    );
  }
}
