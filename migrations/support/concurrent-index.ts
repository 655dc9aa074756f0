import { QueryRunner } from 'typeorm';

interface ConcurrentIndex {
  name: string;
  table: string;
  /** Text of the index behind the table's name, such as `(tenant_id, id) WHERE active`. */
  definition: string;
}

interface Child {
  partition: string;
  /** Name of the table's own index. */
  index: string;
}

/**
 * Makes an index of a table in use, without holding up its writes. It is for a migration with `transaction =
 * false`. After a failure it can be called again: it goes on with what is missing. On a partitioned table
 * each partition gets its own index.
 */
export async function createIndexConcurrently(db: QueryRunner, index: ConcurrentIndex): Promise<void> {
  const { name, table, definition } = index;
  if (!(await isPartitioned(db, table))) return makeValid(db, index);
  // The index covers no partition yet. Partitions that are made from now on have it.
  await db.query(`CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${definition}`);
  for (const { partition, index: child } of await missingChildren(db, table, name)) {
    await makeValid(db, { name: child, table: partition, definition });
    await db.query(`ALTER INDEX ${name} ATTACH PARTITION ${child}`);
  }
}

/**
 * Builds a concurrent index. Building waits for older transactions, but nothing waits for it: it may take
 * long.
 */
async function makeValid(db: QueryRunner, { name, table, definition }: ConcurrentIndex): Promise<void> {
  const [found] = (await db.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  )) as { isValid: boolean }[];
  if (found?.isValid) return;
  await db.query('SET lock_timeout = 0');
  try {
    if (found) await db.query(`DROP INDEX CONCURRENTLY ${name}`);
    await db.query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} ${definition}`);
  } finally {
    await db.query('RESET lock_timeout');
  }
}

async function isPartitioned(db: QueryRunner, table: string): Promise<boolean> {
  const rows = (await db.query(`SELECT 1 FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'p'`, [
    table,
  ])) as unknown[];
  return rows.length > 0;
}

/** Lists the partitions without the index, and the names that their indexes get, such as `name_20261122`. */
async function missingChildren(db: QueryRunner, table: string, name: string): Promise<Child[]> {
  return (await db.query(
    `SELECT p.relname AS partition, $2 || substr(p.relname, length($1) + 1) AS index
     FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
     WHERE i.inhparent = to_regclass($1) AND NOT EXISTS (
       SELECT FROM pg_inherits child JOIN pg_index x ON x.indexrelid = child.inhrelid
       WHERE child.inhparent = to_regclass($2) AND x.indrelid = p.oid)
     ORDER BY p.relname`,
    [table, name],
  )) as Child[];
}
