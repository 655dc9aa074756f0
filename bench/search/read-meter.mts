import type { INestApplicationContext } from '@nestjs/common';
import type pg from 'pg';
import { Database } from '#dist/database/database.js';
import type { FoundMessages } from '#dist/message-search/message-search.dto.js';

/** Cost of one page of a search. */
export interface Reads {
  ms: number;
  /** Number of rows of tables that were looked at. */
  rows: number;
  /** Number of buffers that were read, and of those that PostgreSQL had not in memory. */
  buffers: number;
  fromDisk: number;
  /** Number of messages that were found. */
  found: number;
  nextCursor: string | null;
}

type Counts = Pick<Reads, 'rows' | 'buffers' | 'fromDisk'>;

/**
 * Measures the blocks that searches read, by PostgreSQL's own statistics. Nothing else may read meanwhile.
 */
export class ReadMeter {
  private readonly database: Database;

  constructor(
    app: INestApplicationContext,
    private readonly pool: pg.Pool,
  ) {
    this.database = app.get(Database, { strict: false });
  }

  async measure(search: () => Promise<FoundMessages>): Promise<Reads> {
    const before = await this.read();
    const startedAt = performance.now();
    const { data, nextCursor } = await search();
    const took = performance.now() - startedAt;
    const after = await this.read();
    return {
      ms: took,
      rows: after.rows - before.rows,
      buffers: after.buffers - before.buffers,
      fromDisk: after.fromDisk - before.fromDisk,
      found: data.length,
      nextCursor,
    };
  }

  private async read(): Promise<Counts> {
    // Of the connection that the next call uses too. A connection reports when its transaction has ended.
    await this.database.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await this.pool.query<Counts>(
      `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows,
              sum(coalesce(heap_blks_hit, 0) + coalesce(idx_blks_hit, 0))::float8
                + sum(coalesce(heap_blks_read, 0) + coalesce(idx_blks_read, 0))::float8 AS buffers,
              sum(coalesce(heap_blks_read, 0) + coalesce(idx_blks_read, 0))::float8 AS "fromDisk"
       FROM pg_stat_user_tables JOIN pg_statio_user_tables USING (relid)`,
    );
    return rows[0]!;
  }
}
