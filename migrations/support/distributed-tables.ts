import { QueryRunner } from 'typeorm';

/** Reports whether a table is distributed over the nodes of Citus. */
export async function isDistributed(db: QueryRunner, table: string): Promise<boolean> {
  const [citus] = (await db.query(
    `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "isThere"`,
  )) as [{ isThere: boolean }];
  if (!citus.isThere) return false;
  const rows = (await db.query(
    `SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass($1) AND partmethod = 'h'`,
    [table],
  )) as unknown[];
  return rows.length > 0;
}
