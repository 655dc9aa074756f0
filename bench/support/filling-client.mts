import type pg from 'pg';

/**
 * Runs `work` on a connection of its own with settings and temporary functions for mass inserts, then closes
 * it.
 */
export async function withFillingClient(
  pool: pg.Pool,
  work: (db: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  const db = await pool.connect();
  try {
    await db.query(`
      SET session_replication_role = replica;
      SET synchronous_commit = off;
      SET maintenance_work_mem = '1GB';
      CREATE FUNCTION pg_temp.id_of(ms bigint, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
        $$ SELECT (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid $$;
      CREATE FUNCTION pg_temp.at(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
        $$ SELECT timestamptz 'epoch' + ms * interval '1 millisecond' $$;
      CREATE FUNCTION pg_temp.pick(n bigint, seed bigint, choices text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT choices[1 + (hashint8extended(n, seed) & 1048575) % array_length(choices, 1)] $$;`);
    await work(db);
  } finally {
    db.release(true);
  }
}

/** Runs `insert` while a table has no indexes but the unique ones, then makes the others again. */
export async function withoutIndexes(
  db: pg.PoolClient,
  table: string,
  insert: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid = $1::regclass AND NOT i.indisunique`,
    [table],
  );
  for (const { name } of rows) await db.query(`DROP INDEX ${name}`);
  await insert();
  for (const { definition } of rows) await db.query(definition.replace(' ON ONLY ', ' ON '));
}
