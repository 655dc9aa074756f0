import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';

/**
 * Largest number of rows that are counted. A higher count takes time, and the backlog is far too long
 * already.
 */
export const MAX_DEPTH = 100_000;

@Injectable()
export class OutboxDepthRepository {
  constructor(private readonly database: Database) {}

  /** Returns the number of events in the queue, up to MAX_DEPTH, and the age in seconds of the oldest one. */
  async read(): Promise<{ depth: number; age: number }> {
    const [row] = await this.database.query<{ depth: number; age: number | null }>(
      `SELECT count(*)::integer AS depth, extract(epoch FROM now() - min(queued_at))::float8 AS age
         FROM (SELECT queued_at FROM event_queue LIMIT ${MAX_DEPTH}) AS queued`,
    );
    const { depth, age } = row!;
    return { depth, age: Math.max(0, age ?? 0) };
  }
}
