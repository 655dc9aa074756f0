/** Returns the tables with a tenant_id, by the catalog. */
export async function listTenantTables(database: Queried): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
       AND a.attname = 'tenant_id' AND NOT a.attisdropped ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

interface Queried {
  query<Row>(sql: string): Promise<Row[]>;
}
