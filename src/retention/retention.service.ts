import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../config/config';
import { Database } from '../database/database';

/** Rows that one statement looks at. */
const BATCH = 2_000;
/** A table whose batches of this size fail as well is left to the next night. */
const MIN_BATCH = 100;
/** Between batches, so that the clean-up does not slow other work. */
const PAUSE_MS = 50;

const DAY = 24;
const BEGINNING = '-infinity';

/** Of rows that say themselves when they end. */
const expired = (table: string, ...key: string[]) => `
    WITH step AS (
      SELECT ${key.join(', ')}, expires_at AS age FROM ${table}
      WHERE expires_at >= $1 AND expires_at < $2 ORDER BY expires_at LIMIT $3
    ), gone AS (
      DELETE FROM ${table} t USING step s
      WHERE ${key.map((column) => `t.${column} = s.${column}`).join(' AND ')} AND t.expires_at < $2
      RETURNING 1)`;

/**
 * Each looks at the $3 oldest rows from $1 to before $2, and deletes what nothing needs of them. The next step begins where
 * this one ended, so that none looks at what it can't delete again, nor at what others have deleted. Whatever is deleted
 * is named by its key. Audit entries are never deleted; the history goes by partitions.
 */
const CLEAN_UPS = {
  webhook_endpoints: `
    WITH step AS (
      SELECT tenant_id, id, deleted_at AS age FROM webhook_endpoints
      WHERE deleted_at >= $1 AND deleted_at < $2 ORDER BY deleted_at LIMIT $3
    ), gone AS (
      DELETE FROM webhook_endpoints w USING step s WHERE w.tenant_id = s.tenant_id AND w.id = s.id
        AND NOT EXISTS (SELECT FROM pending_deliveries d WHERE d.tenant_id = s.tenant_id AND d.endpoint_id = s.id)
        AND NOT EXISTS (SELECT FROM pending_cancellations c WHERE c.tenant_id = s.tenant_id AND c.endpoint_id = s.id)
      RETURNING 1)`,
  idempotency_keys: `
    WITH step AS (
      SELECT tenant_id, key, created_at AS age FROM idempotency_keys
      WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at LIMIT $3
    ), gone AS (
      DELETE FROM idempotency_keys k USING step s
      WHERE k.tenant_id = s.tenant_id AND k.key = s.key AND k.created_at < $2
      RETURNING 1)`,
  provider_messages: `
    WITH step AS (
      SELECT tenant_id, connection_id, provider_id, created_at AS age FROM provider_messages
      WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at LIMIT $3
    ), gone AS (
      DELETE FROM provider_messages p USING step s
      WHERE p.tenant_id = s.tenant_id AND p.connection_id = s.connection_id AND p.provider_id = s.provider_id
        AND NOT EXISTS (SELECT FROM outbound_messages d WHERE d.tenant_id = p.tenant_id
          AND d.conversation_id = p.conversation_id AND d.message_id = p.message_id)
      RETURNING 1)`,
  early_receipts: `
    WITH step AS (
      SELECT tenant_id, connection_id, provider_id, status, created_at AS age FROM early_receipts
      WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at LIMIT $3
    ), gone AS (
      DELETE FROM early_receipts r USING step s
      WHERE r.tenant_id = s.tenant_id AND r.connection_id = s.connection_id AND r.provider_id = s.provider_id
        AND r.status = s.status
      RETURNING 1)`,
  invitations: expired('invitations', 'tenant_id', 'id'),
  login_sessions: expired('login_sessions', 'id'),
  pending_logins: expired('pending_logins', 'hash'),
  known_browsers: expired('known_browsers', 'id'),
  password_resets: expired('password_resets', 'hash'),
  // Of whom no workspace is left.
  people: `
    WITH step AS (
      SELECT id, created_at AS age FROM people
      WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at LIMIT $3
    ), gone AS (
      DELETE FROM people p USING step s
      WHERE p.id = s.id AND NOT EXISTS (SELECT FROM memberships m WHERE m.person_id = s.id)
      RETURNING 1)`,
  attempt_rollups: `
    WITH step AS (
      SELECT tenant_id, endpoint_id, starts_at, starts_at AS age FROM attempt_rollups
      WHERE starts_at >= $1 AND starts_at < $2 ORDER BY starts_at LIMIT $3
    ), gone AS (
      DELETE FROM attempt_rollups r USING step s
      WHERE r.tenant_id = s.tenant_id AND r.endpoint_id = s.endpoint_id AND r.starts_at = s.starts_at
      RETURNING 1)`,
};

type Table = keyof typeof CLEAN_UPS;

/** Tables with a retention of their own, in hours: from a row's beginning, or from its end. */
const KEPT_HOURS: Partial<Record<Table, number>> = {
  idempotency_keys: DAY,
  early_receipts: DAY,
  attempt_rollups: 8 * DAY,
  invitations: 0,
  login_sessions: 0,
  pending_logins: 0,
  known_browsers: 0,
  password_resets: 0,
};

interface Step {
  /** Rows that were looked at. */
  seen: number;
  deleted: number;
  /** Of the last of them, as PostgreSQL writes it, since a Date knows no microseconds; null when there was none. */
  age: string | null;
}

/** Deletes rows that are older than their retention, but for the history, which `PartitionKeeper` drops by the day. */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /**
   * Deletes in small batches, each table for itself. The next run continues after a stop or a failure.
   * @returns the number of deleted rows, by table
   */
  async clean(stop?: AbortSignal): Promise<Record<Table, number>> {
    const tables = Object.keys(CLEAN_UPS) as Table[];
    const deleted = Object.fromEntries(tables.map((table) => [table, 0])) as Record<Table, number>;
    for (const table of tables) {
      try {
        for await (const count of this.cleanTable(table, stop)) deleted[table] += count;
      } catch (error) {
        this.logger.error(
          { err: error as Error, table },
          'expired rows of a table were not deleted; the next run will retry',
        );
      }
    }
    this.logger.log({ deleted }, 'deleted expired rows');
    return deleted;
  }

  /** A batch that fails is made smaller. */
  private async *cleanTable(table: Table, stop?: AbortSignal): AsyncGenerator<number> {
    const before = await this.keptSince(table);
    let from = BEGINNING;
    for (let size = BATCH; !stop?.aborted;) {
      const step = await this.step(table, from, before, size).catch((error: Error) => error);
      if (step instanceof Error) {
        if (size <= MIN_BATCH) throw step;
        size = Math.max(MIN_BATCH, Math.floor(size / 2));
      } else {
        yield step.deleted;
        if (step.seen < size || (step.deleted === 0 && step.age === from)) return;
        from = step.age!;
      }
      await sleep(PAUSE_MS);
    }
  }

  private async step(table: Table, from: string, before: string, size: number): Promise<Step> {
    return this.database.queueTransaction(async (tx) => {
      const [step] = await tx.query<Step>(
        `${CLEAN_UPS[table]}
         SELECT count(*)::integer AS seen, (SELECT count(*)::integer FROM gone) AS deleted, max(age)::text AS age FROM step`,
        [from, before, size],
      );
      return step!;
    });
  }

  /** By the database's clock. An endpoint stays until the partitions of its last day are dropped. */
  private async keptSince(table: Table): Promise<string> {
    const hours = KEPT_HOURS[table] ?? this.config.retentionDays * DAY;
    const [row] = await this.database.query<{ since: string }>(
      `SELECT (CASE WHEN $2 THEN date_trunc('day', since, 'UTC') ELSE since END)::text AS since
       FROM (SELECT now() - $1 * interval '1 hour' AS since) AS kept`,
      [hours, table === 'webhook_endpoints'],
    );
    return row!.since;
  }
}
