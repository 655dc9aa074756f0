import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import type pg from 'pg';
import { Database } from '#dist/database/database.js';
import { MessageIndexRepository } from '#dist/message-search/message-index.repository.js';
import { MessageIndexer } from '#dist/message-search/message-indexer.js';
import { SettledTime } from '#dist/message-search/settled-time.js';
import { Metrics } from '#dist/metrics/metrics.js';
import { idOf } from '../support/fixture.mts';
import { withFillingClient } from '../support/filling-client.mts';
import type { SearchWorkspace } from './workspace.mts';

/** Number of messages of one step, as the workers have it. */
const STEP = 100;
/** Unit of the system's processor times, in microseconds. */
const TICK_MICROS = 10_000;
/** Time before now at which the new messages were written: everything of then has been committed. */
const AGE_MS = 60_000;

/** Microseconds a message: of PostgreSQL's processors, and on the clock. */
export interface IndexerFigures {
  postgres: number;
  clock: number;
}

/** Measures the cost of the indexer in PostgreSQL in a workspace with many messages. */
export class IndexerMeter {
  private readonly database: Database;
  private readonly indexer: MessageIndexer;
  private readonly settled: SettledTime;

  constructor(
    app: INestApplicationContext,
    private readonly pool: pg.Pool,
    private readonly workspace: SearchWorkspace,
  ) {
    this.database = app.get(Database, { strict: false });
    this.settled = new SettledTime(this.database);
    const index = app.get(MessageIndexRepository, { strict: false });
    this.indexer = new MessageIndexer(index, this.settled, app.get(Metrics, { strict: false }));
  }

  /** Indexes so many messages. */
  async measure(count: number): Promise<IndexerFigures> {
    const { id } = this.workspace;
    await this.settled.sample();
    await this.insert(count);
    const indexNext = () => this.database.queueTransaction((tx) => this.indexer.indexNext(tx, id, STEP));
    const figures = await this.measureSteps(count, async () => (await indexNext())?.isUnfinished);
    await this.delete();
    return figures;
  }

  /** Copies messages with events. */
  private async insert(count: number): Promise<void> {
    const { id, copiesId } = this.workspace;
    const now = Date.now() - AGE_MS;
    await withFillingClient(this.pool, async (db) => {
      await db.query(
        `WITH message AS (
           INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
           SELECT tenant_id, $2, pg_temp.id_of($3::bigint, row_number() OVER ()), 'CUSTOMER', body, now()
           FROM messages WHERE tenant_id = $1 LIMIT $4 RETURNING *)
         INSERT INTO events (tenant_id, id, type, data, created_at)
         SELECT tenant_id, id, 'message.created',
           json_build_object('conversationId', conversation_id, 'message', json_build_object('body', body)), now()
         FROM message`,
        [id, copiesId, now, count],
      );
      await db.query('UPDATE message_search_progress SET indexed_until = $2 WHERE tenant_id = $1', [
        id,
        idOf(now, 0),
      ]);
    });
  }

  private async delete(): Promise<void> {
    const { id, copiesId, messages, since } = this.workspace;
    const copies = 'SELECT id FROM messages WHERE tenant_id = $1 AND conversation_id = $2';
    await this.pool.query(`DELETE FROM message_search WHERE tenant_id = $1 AND message_id IN (${copies})`, [
      id,
      copiesId,
    ]);
    await this.pool.query(`DELETE FROM events WHERE tenant_id = $1 AND id IN (${copies})`, [id, copiesId]);
    await this.pool.query('DELETE FROM messages WHERE tenant_id = $1 AND conversation_id = $2', [
      id,
      copiesId,
    ]);
    await this.pool.query(
      'UPDATE message_search_progress SET newer = $2, indexed_until = $3 WHERE tenant_id = $1',
      [id, messages, idOf(since, 0)],
    );
  }

  private async measureSteps(
    count: number,
    step: () => Promise<boolean | undefined>,
  ): Promise<IndexerFigures> {
    const before = await this.readProcessors();
    const startedAt = performance.now();
    while (await step());
    const clock = ((performance.now() - startedAt) * 1_000) / count;
    const after = await this.readProcessors();
    const postgres =
      [...after].reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0) / count;
    return { postgres, clock };
  }

  /** Reads the processor time of each connection's process in microseconds, by its id. */
  private async readProcessors(): Promise<Map<number, number>> {
    const { rows } = await this.pool.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
    );
    return new Map(
      rows.map(({ pid }) => {
        const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11);
        return [pid, (Number(user) + Number(system)) * TICK_MICROS];
      }),
    );
  }
}
