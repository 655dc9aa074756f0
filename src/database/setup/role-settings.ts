import { STATEMENT_TIMEOUT_MS } from '../driver/database-client';
import type { Reader } from '../database';
import { HAS_CITUS } from '../citus/citus';

/**
 * Settings that every connection of the service must have, with times in milliseconds. They are stored with
 * each role in the database, because PgBouncer would refuse them as startup parameters. Two settings of Citus
 * make nodes adopt the settings of a transaction, and limit a statement over several shards to one connection
 * to each node. With a connection for each shard, Citus would refuse a later write to the coordinator's
 * tables in the transaction.
 */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 30_000,
  'citus.propagate_set_commands': 'local',
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.node_connection_timeout': 2_000,
};
const NAMES = Object.keys(SETTINGS);
/** SQL for the search path: only the schema of the tables, and temporary objects after it. */
const SEARCH_PATH = `quote_ident(current_schema()) || ', pg_temp'`;

/** Stores missing settings with the reader's role. Only new connections of the role have them. */
export async function setRoleSettings(reader: Pick<Reader, 'query'>): Promise<void> {
  const [now] = await reader.query<{
    database: string;
    path: string;
    settings: string[];
    known: string[];
    hasCitus: boolean;
  }>(
    `SELECT quote_ident(d.datname) AS database, ${SEARCH_PATH} AS path, coalesce(s.setconfig, '{}') AS settings,
       ARRAY(SELECT name FROM pg_settings WHERE name = ANY ($1)) AS known, ${HAS_CITUS} AS "hasCitus"
     FROM pg_database d
     LEFT JOIN pg_db_role_setting s ON s.setdatabase = d.oid AND s.setrole = current_user::regrole
     WHERE d.datname = current_database()`,
    [[...NAMES, 'search_path']],
  );
  const { database, path, known, settings, hasCitus } = now!;
  const wanted = Object.entries({ ...SETTINGS, search_path: path }).filter(([name]) => known.includes(name));
  const set = (name: string, value: string | number) =>
    `ALTER ROLE CURRENT_USER IN DATABASE ${database} SET ${name} = ${value}`;
  for (const [name, value] of wanted)
    if (!settings.includes(`${name}=${value}`)) await reader.query(set(name, value));
  if (hasCitus)
    await setOnNodes(
      reader,
      wanted.map(([name, value]) => set(name, value)),
    );
}

/**
 * Stores the settings on the nodes if the role was created on each node by itself, because Citus does not
 * pass changes of such a role on.
 * @throws Error when a node refuses or does not answer
 */
async function setOnNodes(reader: Pick<Reader, 'query'>, statements: string[]): Promise<void> {
  const inStep = await reader.query(
    `SELECT FROM pg_dist_object WHERE classid = 'pg_authid'::regclass AND objid = current_user::regrole`,
  );
  if (inStep.length > 0) return;
  for (const statement of statements) {
    const refused = await reader.query<{ node: string; result: string }>(
      `SELECT nodename || ':' || nodeport AS node, result FROM run_command_on_workers($1) WHERE NOT success`,
      [statement],
    );
    if (refused.length > 0)
      throw new Error(
        `The node ${refused[0]!.node} did not store the role's settings: ${refused[0]!.result}`,
      );
  }
}

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
