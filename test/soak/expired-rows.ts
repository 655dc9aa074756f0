import { RETENTION_QUEUE } from '../../src/operations/retention/retention.processor';
import { Stores } from '../chaos/stores';
import { openQueue } from '../support/redis-connections';

const DAY_MS = 86_400_000;
/** Number of events of a day. Of 1,000 rows in a default partition, a worker sees the days in one run. */
const EVENTS = 100;
/** Age in days of the first day that is stored, far beyond the retention of 30 days. */
const OLDEST = 100;

/** Rows that the retention must delete, which a run gets because none of its own is old enough. */
export class ExpiredRows {
  private days = 0;

  constructor(private readonly stores: Stores) {}

  /**
   * Stores events of a day long past, which a starting worker finds. Then makes the idempotency keys older
   * than a minute two days older, and starts the nightly clean-up on a worker.
   */
  async add(workspaceId: string): Promise<void> {
    const day = Math.floor(Date.now() / DAY_MS) - OLDEST + this.days++;
    const prefix = (day * DAY_MS).toString(16).padStart(12, '0');
    await this.stores.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, ($2 || lpad(to_hex(n), 12, '0'))::uuid, 'message.created', '{}', now() - interval '${OLDEST} days'
       FROM generate_series(1, ${EVENTS}) AS n`,
      [workspaceId, `${prefix.slice(0, 8)}-${prefix.slice(8)}-7000-8000-`],
    );
    await this.stores.query(
      `UPDATE idempotency_keys SET created_at = created_at - interval '2 days'
       WHERE created_at BETWEEN now() - interval '1 day' AND now() - interval '1 minute'`,
    );
    const jobs = openQueue(RETENTION_QUEUE, this.stores.redisServerUrl);
    await jobs.queue.add({});
    await jobs.close();
  }

  /** Counts the rows that are left, and the days whose partition is. */
  async count(): Promise<number> {
    const [row] = await this.stores.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM events WHERE created_at < now() - interval '31 days')::integer
            + (SELECT count(*) FROM idempotency_keys WHERE created_at < now() - interval '1 day')::integer
            + (SELECT count(*) FROM pg_class WHERE relkind = 'r'
               AND substring(relname FROM '^events_([0-9]{8})$') < to_char(now() - interval '31 days', 'YYYYMMDD')
              )::integer AS count`,
    );
    return row!.count;
  }
}
