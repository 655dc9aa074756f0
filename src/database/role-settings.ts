import { STATEMENT_TIMEOUT_MS } from './database-client';
import type { Reader } from './database';

/**
 * Time-outs that every connection of the service must have, in milliseconds. They are stored with each role
 * in the service's database, as the search path is, because PgBouncer would refuse them as startup
 * parameters.
 */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 30_000,
};
const NAMES = Object.keys(SETTINGS);
/**
 * SQL for the fixed search path: the schema of the tables alone. Neither a schema of the role's own name nor
 * temporary objects come before it.
 */
const SEARCH_PATH = `quote_ident(current_schema()) || ', pg_temp'`;

/**
 * Stores the settings with the reader's own role, unless they are stored already. New connections of the role
 * have them.
 */
export async function setRoleSettings(reader: Pick<Reader, 'query'>): Promise<void> {
  const [now] = await reader.query<{ database: string; path: string; settings: string[] }>(
    `SELECT quote_ident(d.datname) AS database, ${SEARCH_PATH} AS path, coalesce(s.setconfig, '{}') AS settings
     FROM pg_database d
     LEFT JOIN pg_db_role_setting s ON s.setdatabase = d.oid AND s.setrole = current_user::regrole
     WHERE d.datname = current_database()`,
  );
  for (const [name, value] of Object.entries({ ...SETTINGS, search_path: now!.path }))
    if (!now!.settings.includes(`${name}=${value}`))
      await reader.query(`ALTER ROLE CURRENT_USER IN DATABASE ${now!.database} SET ${name} = ${value}`);
}

/** Lists the settings that the reader's connection lacks. */
export async function missingRoleSettings(reader: Pick<Reader, 'query'>): Promise<string[]> {
  const rows = await reader.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     WHERE (SELECT setting FROM pg_settings s WHERE s.name = wanted.name) <> value
     UNION ALL
     SELECT 'search_path' WHERE current_setting('search_path') <> ${SEARCH_PATH}`,
    [NAMES, Object.values(SETTINGS)],
  );
  return rows.map(({ name }) => name);
}
