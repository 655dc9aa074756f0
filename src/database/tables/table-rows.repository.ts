import { Injectable } from '@nestjs/common';
import { Database } from '../database';
import { workspaceOf } from '../key-list';
import { Transaction } from '../transaction';
import { CleanUp, HistoryUse, TableDeclaration } from './table-declaration';

/** Key, without `tenant_id`, of the last row that a call of `deleteStep` read. The next call begins there. */
export type TableCursor = string[];

export interface CleanUpStep {
  seen: number;
  deleted: number;
  /**
   * Time, in the column `CleanUp.age`, of the last row that this step has read; null if it has read none. It
   * is PostgreSQL's text, because a Date has no microseconds.
   */
  age: string | null;
}

/** Names the columns of one secret: their table, and the prefix of their names. */
export interface SecretColumn {
  table: string;
  prefix: string;
}

export interface SecretKey {
  tenantId: string;
  id: string;
}

export interface StoredSecret {
  id: string;
  keyId: string;
  ciphertext: Buffer;
}

/** Runs statements on rows of any table; the names in them come from declarations, never from input. */
@Injectable()
export class TableRowsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Deletes up to `count` rows of a workspace from a table, in the order of their keys. It skips rows that
   * another transaction has locked. It begins after the last key of the previous call, so that PostgreSQL
   * does not read the dead rows of that call.
   * @param after key at which the previous call ended; null for the first call
   * @returns the number of deleted rows, and the key for the next call; null after the last call
   */
  async deleteStep(
    tx: Transaction,
    tenantId: string,
    { name, key }: TableDeclaration,
    after: TableCursor | null,
    count: number,
  ): Promise<{ deleted: number; next: TableCursor | null }> {
    const rest = Object.entries(key).filter(([column]) => column !== 'tenant_id');
    // Some tables have one row for each workspace, and `tenant_id` alone as their key.
    const ownKey = rest.length > 0 ? rest : Object.entries(key);
    const columns = ownKey.map(([column]) => column);
    const listed = columns.join(', ');
    const cursor = ownKey.map(([, type], n) => `($3::text[])[${n + 1}]::${type}`);
    const [step] = await tx.query<{ deleted: number; last: TableCursor | null }>(
      `WITH step AS (
         SELECT ${listed} FROM ${name}
         WHERE tenant_id = $1 AND ${after ? `(${listed}) > (${cursor.join(', ')})` : '$3::text[] IS NULL'}
         ORDER BY ${listed} LIMIT $2 FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM ${name} t USING step s
         WHERE t.tenant_id = $1 AND ${equalIn(columns)}
         RETURNING 1
       )
       SELECT (SELECT count(*)::integer FROM gone) AS deleted,
              (SELECT ARRAY[${columns.map((column) => `${column}::text`).join(', ')}] FROM step
               ORDER BY ${columns.map((column) => `step.${column} DESC`).join(', ')} LIMIT 1) AS last`,
      [tenantId, count, after],
    );
    const { deleted, last } = step!;
    return { deleted, next: deleted < count ? null : last };
  }

  /**
   * Reports whether any of the tables has a row of the workspace. It reads all tables twice, because a
   * transaction may have moved a row from a table that was not read yet to one that was.
   */
  async hasRows(tx: Transaction, tenantId: string, tables: string[]): Promise<boolean> {
    for (const table of [...tables, ...tables]) {
      const rows = await tx.query(`SELECT FROM ${table} WHERE tenant_id = $1 LIMIT 1`, [tenantId]);
      if (rows.length > 0) return true;
    }
    return false;
  }

  /**
   * Reads the `count` oldest rows of a table whose time, in the column `CleanUp.age`, is at least `from` and
   * less than `before`. It deletes those that meet the rule's `guard`. The next call begins at the time where
   * this one ended, so that it does not read rows again that were deleted or must stay.
   */
  async cleanUp(
    tx: Transaction,
    { name, key }: TableDeclaration,
    { age, among = 'true', guard = 'true' }: CleanUp,
    { from, before, count }: { from: string; before: string; count: number },
  ): Promise<CleanUpStep> {
    const columns = Object.keys(key);
    const [step] = await tx.query<CleanUpStep>(
      `WITH step AS (
         SELECT ${columns.join(', ')}, ${age} AS age FROM ${name}
         WHERE ${age} >= $1 AND ${age} < $2 AND ${among} ORDER BY ${age} LIMIT $3
       ), gone AS (
         DELETE FROM ${name} t USING step s
         WHERE ${equalIn(columns)} AND t.${age} < $2 AND (${guard})
         RETURNING 1
       )
       SELECT count(*)::integer AS seen, (SELECT count(*)::integer FROM gone) AS deleted, max(age)::text AS age FROM step`,
      [from, before, count],
    );
    return step!;
  }

  /**
   * Finds, in each workspace, a row that needs the events or deliveries of a day. It costs a few index
   * look-ups for each workspace, however many rows there are.
   * @returns the workspaces, each with the first table that has such a row, or null
   */
  findHistoryUses(
    tx: Transaction,
    uses: { table: string; use: HistoryUse }[],
    tenantIds: string[],
    day: { first: string; next: string; start: Date },
  ): Promise<{ tenantId: string; table: string | null }[]> {
    const workspace = workspaceOf('w', '$1', this.database);
    const found = uses.map(
      ({ table, use }) =>
        `(SELECT '${table}' AS name FROM ${table} t WHERE t.tenant_id = ${workspace} AND ${use.needsDay} LIMIT 1)`,
    );
    return tx.query(
      `SELECT w.tenant_id AS "tenantId", reference.name AS "table"
       FROM unnest($1::uuid[]) AS w (tenant_id)
       CROSS JOIN (SELECT $2::uuid AS first, $3::uuid AS next, $4::timestamptz AS start) AS day
       LEFT JOIN LATERAL (${found.join(' UNION ALL ')} LIMIT 1) AS reference ON true
       ORDER BY w.tenant_id`,
      [tenantIds, day.first, day.next, day.start],
    );
  }

  /**
   * Lists up to `count` rows of all workspaces, after a given row, whose secret is not encrypted with the
   * encryption key `keyId`. It locks no row.
   */
  findSecrets(
    { table, prefix }: SecretColumn,
    keyId: string,
    { tenantId, id }: SecretKey,
    count: number,
  ): Promise<SecretKey[]> {
    return this.database.query<SecretKey>(
      `SELECT tenant_id AS "tenantId", id FROM ${table}
       WHERE ${prefix}_key_id <> $1 AND (tenant_id, id) > ($2, $3) ORDER BY tenant_id, id LIMIT $4`,
      [keyId, tenantId, id, count],
    );
  }

  /**
   * Locks the given rows of a workspace, except rows whose secret is encrypted with the encryption key
   * `keyId`, and returns their secrets.
   */
  lockSecrets(
    tx: Transaction,
    { table, prefix }: SecretColumn,
    tenantId: string,
    ids: string[],
    keyId: string,
  ): Promise<StoredSecret[]> {
    return tx.query<StoredSecret>(
      `SELECT id, ${prefix}_key_id AS "keyId", ${prefix}_ciphertext AS ciphertext FROM ${table}
       WHERE tenant_id = $1 AND id = ANY ($2) AND ${prefix}_key_id <> $3 ORDER BY id FOR NO KEY UPDATE`,
      [tenantId, ids, keyId],
    );
  }

  async updateSecret(
    tx: Transaction,
    { table, prefix }: SecretColumn,
    tenantId: string,
    { id, keyId, ciphertext }: StoredSecret,
  ): Promise<void> {
    await tx.query(
      `UPDATE ${table} SET ${prefix}_key_id = $3, ${prefix}_ciphertext = $4 WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, keyId, ciphertext],
    );
  }
}

function equalIn(columns: string[]): string {
  return columns.map((column) => `t.${column} = s.${column}`).join(' AND ');
}
