import { Injectable } from '@nestjs/common';
import { idFloor, isId } from '../common/ids';
import { Database } from '../database/database';
import { OwnerDatabase } from '../database/owner-database';
import { PageStatement } from '../database/page-statement';
import { Pipelined, Transaction } from '../database/transaction';
import { IdRange } from '../outbox/events.repository';
import { AuditEntryEntity } from './audit-entry.entity';
import { ListAuditEntriesQuery } from './audit-entry.dto';

export const AUDIT_TABLE = 'audit_entries';

export type AuditFilter = Omit<ListAuditEntriesQuery, 'limit'>;

const COLUMNS = `id, tenant_id AS "tenantId", action, entity, entity_id AS "entityId", actor_type AS "actorType",
  actor_id AS "actorId", actor_name AS "actorName", address, user_agent AS "userAgent", request_id AS "requestId",
  before, after, metadata, created_at AS "createdAt"`;

/** SQL of an entry's actor as `actorIdOf` returns it. It must stay equal to the expression of the index. */
const ACTOR = `(coalesce(actor_id::text, actor_type || coalesce(':' || actor_name, '')))`;

const COLUMN_OF = { action: 'action', entity: 'entity', actor: ACTOR };
export type AuditColumn = keyof typeof COLUMN_OF;

@Injectable()
export class AuditEntriesRepository {
  constructor(private readonly database: Database) {}

  insertPipelined(tx: Transaction, entry: AuditEntryEntity): Pipelined {
    return tx.pipeline(
      `INSERT INTO audit_entries
         (tenant_id, id, action, entity, entity_id, actor_type, actor_id, actor_name, address, user_agent, request_id,
          before, after, metadata, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
      [
        entry.tenantId,
        entry.id,
        entry.action,
        entry.entity,
        entry.entityId,
        entry.actorType,
        entry.actorId,
        entry.actorName,
        entry.address,
        entry.userAgent,
        entry.requestId,
        entry.before && JSON.stringify(entry.before),
        entry.after && JSON.stringify(entry.after),
        JSON.stringify(entry.metadata),
        entry.createdAt,
      ],
    );
  }

  /** Lists up to `count` entries that pass a filter, newest first. */
  async list(tenantId: string, filter: AuditFilter, count: number): Promise<AuditEntryEntity[]> {
    if (!isId(tenantId)) return [];
    const page = new PageStatement(COLUMNS, 'audit_entries').where('tenant_id = ?', tenantId);
    for (const [condition, value] of conditionsOf(filter)) page.where(condition, value);
    return page.read<AuditEntryEntity>(this.database, filter.cursor, count);
  }

  /** Lists up to `count` ids of entries about one entity, from a range of ids, oldest first. */
  async listNextIds(
    tx: Transaction,
    tenantId: string,
    entityId: string,
    { after, before }: IdRange,
    count: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM audit_entries WHERE tenant_id = $1 AND entity_id = $2 AND id > $3 AND id < $4
       ORDER BY id LIMIT $5`,
      [tenantId, entityId, after, before, count],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Lists up to `count` distinct values of a column in a workspace's entries, ascending. It is fast however
   * many entries have a value, because it looks up each value once in an index.
   */
  async listValues(tenantId: string, column: AuditColumn, count: number): Promise<string[]> {
    const value = COLUMN_OF[column];
    const rows = await this.database.query<{ value: string }>(
      `WITH RECURSIVE found AS (
         (SELECT ${value} AS value, 1 AS n FROM audit_entries WHERE tenant_id = $1 ORDER BY ${value} LIMIT 1)
         UNION ALL
         SELECT next.value, n + 1 FROM found, LATERAL (
           SELECT ${value} AS value FROM audit_entries WHERE tenant_id = $1 AND ${value} > found.value
           ORDER BY ${value} LIMIT 1) next
         WHERE n < $2
       )
       SELECT value FROM found ORDER BY n`,
      [tenantId, count],
    );
    return rows.map((row) => row.value);
  }

  /**
   * Deletes the oldest `count` entries of a workspace whose deletion is running.
   * @param owner connection as the tables' owner, because the service's own role may not delete entries
   * @returns the number of deleted entries
   */
  async deleteStep(owner: OwnerDatabase, tenantId: string, count: number): Promise<number> {
    const rows = await owner.query(
      `WITH step AS (SELECT id FROM audit_entries WHERE tenant_id = $1 ORDER BY id LIMIT $2)
       DELETE FROM audit_entries e USING step WHERE e.tenant_id = $1 AND e.id = step.id RETURNING 1`,
      [tenantId, count],
    );
    return rows.length;
  }

  /** Lists up to `count` entries that pass a filter and have ids above `after`, oldest first. */
  async listNext(
    tenantId: string,
    filter: Omit<AuditFilter, 'cursor'>,
    after: string,
    count: number,
  ): Promise<AuditEntryEntity[]> {
    const given = conditionsOf(filter);
    const where = given.map(([condition], n) => ` AND ${condition.replace('?', `$${n + 4}`)}`).join('');
    return this.database.query(
      `SELECT ${COLUMNS} FROM audit_entries WHERE tenant_id = $1 AND id > $2${where} ORDER BY id LIMIT $3`,
      [tenantId, after, count, ...given.map(([, value]) => value)],
    );
  }
}

/** Returns the SQL conditions of a filter, each with a `?` for its value. */
function conditionsOf({ action, actor, entity, entityId, since, until }: AuditFilter): [string, string][] {
  const conditions: [string, string | undefined][] = [
    ['action = ?', action],
    [`${ACTOR} = ?`, actor],
    ['entity = ?', entity],
    ['entity_id = ?', entityId],
    ['id >= ?', since && idFloor(since)],
    ['id < ?', until && idFloor(until)],
  ];
  return conditions.filter((one): one is [string, string] => one[1] !== undefined);
}
