import { STATEMENT_TIMEOUT_MS } from './database-client';
import type { Reader } from './database';

/**
 * Settings that every connection of the service must have, in milliseconds. They are stored with each role in
 * the service's database, because PgBouncer would refuse them as startup parameters.
 */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 30_000,
};
const NAMES = Object.keys(SETTINGS);

/**
 * Stores the settings with the reader's own role, unless they are stored already. New connections of the role
 * have them.
 */
export async function setRoleSettings(reader: Pick<Reader, 'query'>): Promise<void> {
  const [now] = await reader.query<{ database: string; settings: string[] }>(
    `SELECT quote_ident(d.datname) AS database, coalesce(s.setconfig, '{}') AS settings
     FROM pg_database d
     LEFT JOIN pg_db_role_setting s ON s.setdatabase = d.oid AND s.setrole = current_user::regrole
     WHERE d.datname = current_database()`,
  );
  for (const [name, value] of Object.entries(SETTINGS))
    if (!now!.settings.includes(`${name}=${value}`))
      await reader.query(`ALTER ROLE CURRENT_USER IN DATABASE ${now!.database} SET ${name} = ${value}`);
}

/** Lists the settings that the reader's connection lacks. */
export async function missingRoleSettings(reader: Pick<Reader, 'query'>): Promise<string[]> {
  const rows = await reader.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     WHERE (SELECT setting FROM pg_settings s WHERE s.name = wanted.name) <> value`,
    [NAMES, Object.values(SETTINGS)],
  );
  return rows.map(({ name }) => name);
}
