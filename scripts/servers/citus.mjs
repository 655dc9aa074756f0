import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { LauncherError } from '../processes.mjs';
import { makePrivate, runAs } from './home.mjs';
import { describe } from './postgres-binaries.mjs';
import { startPostgres } from './postgres.mjs';

const HINT = 'docs/project/contributing.md says where it comes from.';

/** Settings that Citus needs, beside those of any PostgreSQL here. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical', // shards are moved
  max_connections: '600',
  max_prepared_transactions: '600',
  max_worker_processes: '200', // one for each database
  max_locks_per_transaction: '1024',
  'citus.enable_unsafe_triggers': 'on', // tests make triggers that fail
  'citus.shard_count': '8',
  'citus.node_conninfo': 'sslmode=disable',
};

/**
 * Starts a coordinator of Citus and its workers, each a PostgreSQL server of its own. They have the same
 * roles with the same passwords. No database has the extension yet.
 *
 * @param {NodeOptions} options
 * @param {number} workerCount number of the nodes that keep shards, beside the coordinator
 * @returns the coordinator, with its workers, and the addresses of all nodes for the administrator, the
 *   coordinator's first
 */
export async function startCitus({ port, ...options }, workerCount = 2) {
  const coordinator = await startNode('coordinator', { ...options, port });
  const { passwords } = coordinator;
  const workers = await Promise.all(
    Array.from({ length: workerCount }, (_, n) => startNode(`worker-${n + 1}`, { ...options, passwords })),
  );
  const servers = [coordinator, ...workers];
  const ended = Promise.race(servers.map((server) => server.ended));
  ended.catch(() => undefined); // no unhandled rejection after a wanted stop
  return { ...coordinator, workers, nodes: servers.map(({ adminUrl }) => adminUrl), ended };
}

/**
 * @typedef {object} NodeOptions
 * @property {import('./home.mjs').Home} home of all nodes
 * @property {import('../processes.mjs').Reaper} reaper
 * @property {boolean} disposable speed before safety, for temporary data
 * @property {(line: string) => void} onLog
 * @property {import('./postgres.mjs').Passwords} [passwords]
 * @property {Record<string, string>} [settings] of each server, beside those that Citus needs
 * @property {number} [port] of the coordinator, or of the one node; default: a free one
 */

/**
 * Starts one node, which makes its files at the first start.
 *
 * @param {string} name of its folder
 * @param {NodeOptions & Partial<Parameters<typeof startPostgres>[0]>} options
 */
export async function startNode(name, { home, settings, ...options }) {
  const server = await startPostgres({
    ...options,
    home: homeOf(name, home),
    binaries: requireCitus(home.user),
    settings: { ...SETTINGS, ...settings },
  });
  return { ...server, name };
}

/**
 * Starts a server that follows a node, from a copy of its files, and has the node wait for it with each
 * commit.
 *
 * @param {string} name of its folder
 * @param {{ adminUrl: string, passwords: import('./postgres.mjs').Passwords }} primary
 * @param {NodeOptions} options
 */
export async function startStandby(name, { adminUrl, passwords }, options) {
  const { user } = options.home;
  const { folder, major } = requireCitus(user);
  const data = join(homeOf(name, options.home).directory, `postgresql-${major}`);
  const args = [`--pgdata=${data}`, `--dbname=${adminUrl}`, '--write-recovery-conf', '--checkpoint=fast'];
  await promisify(execFile)(join(folder, 'pg_basebackup'), args, runAs(user));
  const standby = await startNode(name, { ...options, passwords, isStandby: true });
  await runAll(adminUrl, [
    { text: `ALTER SYSTEM SET synchronous_standby_names = '*'` },
    { text: 'SELECT pg_reload_conf()' },
  ]);
  return standby;
}

/**
 * Returns the folder of one node.
 *
 * @param {string} name
 * @param {import('./home.mjs').Home} home of all nodes
 */
function homeOf(name, { directory, user }) {
  const home = { directory: join(directory, name), user };
  makePrivate(home.directory, user);
  return home;
}

/**
 * Makes a new database of each node one of Citus: the coordinator's leads to those of the workers.
 *
 * @param {string[]} urls of the database on each node, for the administrator, the coordinator's first
 * @param {string[]} roleUrls an address for each role that the nodes connect to each other as
 */
export async function joinDatabases(urls, roleUrls) {
  await Promise.all(urls.map((url) => prepareNode(url, roleUrls)));
  const [coordinator, ...workers] = urls;
  const url = /** @type {string} */ (coordinator);
  await runAll(url, [{ text: 'SELECT citus_set_coordinator_host($1, $2)', values: placeOf(url) }]);
  for (const worker of workers) await addNode(url, worker);
}

/**
 * Makes a new database one of Citus, which no other knows yet.
 *
 * @param {string} url for the administrator
 * @param {string[]} roleUrls an address for each role that the nodes connect to each other as
 */
export async function prepareNode(url, roleUrls) {
  await runAll(url, [
    { text: 'CREATE EXTENSION citus' },
    ...roleUrls
      .map((roleUrl) => new URL(roleUrl))
      .map(({ username, password }) => ({
        text: 'INSERT INTO pg_dist_authinfo (nodeid, rolename, authinfo) VALUES (0, $1, $2)',
        values: [username, `password=${password}`],
      })),
  ]);
}

/**
 * Makes a prepared database known to that of the coordinator.
 *
 * @param {string} coordinatorUrl for the administrator
 * @param {string} url
 */
export async function addNode(coordinatorUrl, url) {
  await runAll(coordinatorUrl, [{ text: 'SELECT citus_add_node($1, $2)', values: placeOf(url) }]);
}

/** @param {string} url */
function placeOf(url) {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port)];
}

/**
 * @param {string} connectionString
 * @param {import('pg').QueryConfig[]} statements
 */
async function runAll(connectionString, statements) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * Returns the programs of a PostgreSQL with Citus.
 *
 * @param {import('./home.mjs').User} [user] who runs them
 * @throws LauncherError if CITUS_PG does not name their folder
 */
export function requireCitus(user) {
  const folder = process.env.CITUS_PG;
  if (!folder)
    throw new LauncherError(`CITUS_PG does not name the folder of a PostgreSQL with Citus. ${HINT}`);
  const binaries = describe(folder, user);
  if (binaries && existsSync(join(folder, '../lib/citus.so'))) return binaries;
  throw new LauncherError(`There is no PostgreSQL with Citus in ${folder} (CITUS_PG). ${HINT}`);
}
