import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../config/config';
import { Database } from '../database/database';

const BATCH = 2_000;
/** Between batches, so that the clean-up does not slow other work. */
const PAUSE_MS = 50;

const HOUR_MS = 60 * 60 * 1000;
const IDEMPOTENCY_HOURS = 24;
/** Receipts that arrived before the provider's id of their message. */
const EARLY_RECEIPT_HOURS = 24;

/**
 * Each deletes up to $1 rows from before $2, in the order of the foreign keys. Deleting a delivery cascades to its
 * attempts. Audit entries are never deleted.
 */
const CLEAN_UPS = {
  webhook_endpoints: `
    DELETE FROM webhook_endpoints WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM webhook_endpoints w
      WHERE deleted_at < $2 AND NOT EXISTS (
        SELECT FROM webhook_deliveries d WHERE d.tenant_id = w.tenant_id AND d.endpoint_id = w.id) LIMIT $1))`,
  idempotency_keys: `
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys WHERE created_at < $2 LIMIT $1))`,
  provider_messages: `
    DELETE FROM provider_messages WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM provider_messages p
      WHERE created_at < $2 AND NOT EXISTS (
        SELECT FROM message_dispatches d WHERE d.tenant_id = p.tenant_id
          AND d.conversation_id = p.conversation_id AND d.message_id = p.message_id) LIMIT $1))`,
  early_receipts: `
    DELETE FROM early_receipts WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM early_receipts WHERE created_at < $2 LIMIT $1))`,
};

type Table = keyof typeof CLEAN_UPS;

/** Tables with a retention of their own. */
const KEPT_HOURS: Partial<Record<Table, number>> = {
  idempotency_keys: IDEMPOTENCY_HOURS,
  early_receipts: EARLY_RECEIPT_HOURS,
};

/** Deletes rows that are older than their retention. */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /**
   * Deletes in small batches. The next run continues after a stop.
   * @returns the number of deleted rows, by table
   */
  async clean(stop?: AbortSignal): Promise<Record<Table, number>> {
    const tables = Object.keys(CLEAN_UPS) as Table[];
    const deleted = Object.fromEntries(tables.map((table) => [table, 0])) as Record<Table, number>;
    for (const table of tables) {
      const before = this.keptSince(table);
      for (let rows = BATCH; rows === BATCH && !stop?.aborted; deleted[table] += rows) {
        rows = (await this.database.query(`${CLEAN_UPS[table]} RETURNING 1`, [BATCH, before])).length;
        await sleep(PAUSE_MS);
      }
    }
    this.logger.log({ deleted }, 'deleted expired rows');
    return deleted;
  }

  private keptSince(table: Table): Date {
    const hours = KEPT_HOURS[table] ?? this.config.retentionDays * 24;
    return new Date(Date.now() - hours * HOUR_MS);
  }
}
