import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { RECENT_FLOOR, savedFirstEvent } from '../queue/floors/queue-floors.repository';

/**
 * Largest number of rows that are counted. A higher count takes time, and the backlog is far too long
 * already.
 */
export const MAX_DEPTH = 100_000;

/** The queue without the dead rows before the floors that workers have saved. */
const QUEUE_FROM_FLOORS = `workspaces w, LATERAL (
  SELECT queued_at FROM event_queue
  WHERE tenant_id = w.id AND event_id >= (${savedFirstEvent('w.id')}) ORDER BY event_id) q`;

interface Depth {
  depth: number;
  age: number | null;
}

@Injectable()
export class OutboxDepthRepository {
  constructor(private readonly database: Database) {}

  /** Returns the number of events in the queue, up to MAX_DEPTH, and the age in seconds of the oldest one. */
  async read(): Promise<{ depth: number; age: number }> {
    const floors = await this.database.search(RECENT_FLOOR, { order: () => [] });
    const areUsed = floors.length > 0;
    const sql = `SELECT count(*)::integer AS depth, extract(epoch FROM now() - min(queued_at))::float8 AS age
      FROM (SELECT queued_at FROM ${areUsed ? QUEUE_FROM_FLOORS : 'event_queue'} LIMIT ${MAX_DEPTH}) AS queued`;
    const isReadAtOnce = this.database.spansWorkspaces && !areUsed;
    const parts = await (isReadAtOnce
      ? this.database.query<Depth>(sql)
      : this.database.search<Depth>(sql, { order: () => [] }));
    const depth = parts.reduce((sum, part) => sum + part.depth, 0);
    return { depth: Math.min(depth, MAX_DEPTH), age: Math.max(0, ...parts.map(({ age }) => age ?? 0)) };
  }
}
