import { STATEMENT_TIMEOUT_MS } from './database-client';
import type { Reader } from './database';

/**
 * Settings that every connection of the service must have: time-outs in milliseconds, and that the nodes of
 * Citus get what a transaction sets. They are stored with each role in the service's database, as the search
 * path is, because PgBouncer would refuse them as startup parameters. A server without Citus does not know
 * the last one.
 */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 30_000,
  'citus.propagate_set_commands': 'local',
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
  const [now] = await reader.query<{ database: string; path: string; settings: string[]; known: string[] }>(
    `SELECT quote_ident(d.datname) AS database, ${SEARCH_PATH} AS path, coalesce(s.setconfig, '{}') AS settings,
       ARRAY(SELECT name FROM pg_settings WHERE name = ANY ($1)) AS known
     FROM pg_database d
     LEFT JOIN pg_db_role_setting s ON s.setdatabase = d.oid AND s.setrole = current_user::regrole
     WHERE d.datname = current_database()`,
    [[...NAMES, 'search_path']],
  );
  for (const [name, value] of Object.entries({ ...SETTINGS, search_path: now!.path }))
    if (now!.known.includes(name) && !now!.settings.includes(`${name}=${value}`))
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
