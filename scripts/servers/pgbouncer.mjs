import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { codeOf, freePort, LauncherError, sleep } from '../processes.mjs';
import { installPackage } from './apt.mjs';
import { makePrivate } from './home.mjs';
import { spawnServer } from './server-process.mjs';

/** Path of PgBouncer's program: Debian's, or what the variable PGBOUNCER names. */
const COMMAND = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';
/** Minor version of PgBouncer 1 that first supports named prepared statements in transaction mode. */
const PREPARED_SINCE_MINOR = 21;
const MAX_PREPARED_STATEMENTS = 300;
/** Name of the database through which PgBouncer's own console is reached. */
const CONSOLE = 'pgbouncer';

/**
 * Starts PgBouncer in transaction mode before a PostgreSQL server, for all its databases. It refuses clients
 * that send a startup parameter it does not know, as a default installation does.
 *
 * @param {object} options
 * @param {[string, ...string[]]} options.urls of the server, one for each role that may enter; the first one
 *   may use the console
 * @param {import('./home.mjs').Home} options.home
 * @param {import('../processes.mjs').Reaper} options.reaper
 * @param {number} options.serverConnections for each database, whatever the number of clients
 * @param {(line: string) => void} [options.onLog]
 * @returns `through` gives the address of the same database, for the same role, by way of PgBouncer;
 *   `isPrepared`: whether it knows named statements
 */
export async function startPgBouncer({ urls, home, reaper, serverConnections, onLog = () => undefined }) {
  if (!existsSync(COMMAND) && !install(onLog)) throw notFound();
  const folder = mkdtempSync(join(home.directory, 'pgbouncer-'));
  makePrivate(folder, home.user);
  const port = await freePort();
  const isPrepared = knowsNamedStatements();
  const userFile = join(folder, 'users.txt');
  writeFileSync(userFile, userList(urls));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration({ url: urls[0], port, userFile, serverConnections, isPrepared }));
  const { child, ended } = spawnServer({
    name: 'PgBouncer',
    command: COMMAND,
    args: [file],
    logFile: join(folder, 'pgbouncer.log'),
    user: home.user,
  });
  reaper.adopt(child, 'SIGINT');
  const through = (/** @type {string} */ url) =>
    Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href;
  const consoleUrl = Object.assign(new URL(through(urls[0])), { pathname: `/${CONSOLE}` }).href;
  await Promise.race([untilItListens(consoleUrl), ended]);
  return { through, consoleUrl, isPrepared, child, ended };
}

/**
 * Returns PgBouncer's file of users, a line for each address. Passwords are in plain text, because PgBouncer
 * logs in to PostgreSQL with them.
 *
 * @param {string[]} urls
 */
function userList(urls) {
  const quoted = (/** @type {string} */ text) => `"${decodeURIComponent(text)}"`;
  return urls
    .map((url) => new URL(url))
    .map(({ username, password }) => `${quoted(username)} ${quoted(password)}\n`)
    .join('');
}

/**
 * @param {object} options
 * @param {string} options.url
 * @param {number} options.port
 * @param {string} options.userFile
 * @param {number} options.serverConnections
 * @param {boolean} options.isPrepared
 */
function configuration({ url, port, userFile, serverConnections, isPrepared }) {
  const server = new URL(url);
  return [
    '[databases]',
    `* = host=${server.hostname} port=${server.port || 5432}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${userFile}`,
    `admin_users = ${server.username}`,
    'pool_mode = transaction',
    'max_client_conn = 5000',
    `default_pool_size = ${serverConnections}`,
    `max_db_connections = ${serverConnections}`,
    ...(isPrepared ? [`max_prepared_statements = ${MAX_PREPARED_STATEMENTS}`] : []),
    '',
  ].join('\n');
}

/** @param {(line: string) => void} onLog */
function install(onLog) {
  return !process.env.PGBOUNCER && installPackage('pgbouncer', onLog);
}

function knowsNamedStatements() {
  const { stdout } = spawnSync(COMMAND, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= PREPARED_SINCE_MINOR);
}

/** @param {string} connectionString */
async function untilItListens(connectionString) {
  for (;;) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (codeOf(error) !== 'ECONNREFUSED') throw error;
    }
    await sleep(25);
  }
}

function notFound() {
  return new LauncherError(
    `No PgBouncer found at ${COMMAND}. Install it with your package manager, for example: sudo apt-get install pgbouncer`,
  );
}
