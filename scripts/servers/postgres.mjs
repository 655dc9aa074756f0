import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { codeOf, freePort, LauncherError, sleep } from '../processes.mjs';
import { makePrivate, runAs } from './home.mjs';
import { clearOrphan } from './orphan.mjs';
import { findPostgres } from './postgres-binaries.mjs';
import { makeRoles, urlsOfRoles } from './roles.mjs';
import { keptPassword, spawnServer } from './server-process.mjs';

/** Name of PostgreSQL's superuser and of the one database. */
const NAME = 'messaging';

const DURABLE = { max_connections: '200', shared_buffers: '256MB' };
const DISPOSABLE = {
  max_connections: '300',
  shared_buffers: '256MB',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
};

/**
 * Passwords of the superuser and of the two roles of the service.
 *
 * @typedef {{ admin: string, owner: string, service: string }} Passwords
 */

/**
 * Starts a PostgreSQL server, and waits until it is ready.
 *
 * @param {object} options
 * @param {import('./home.mjs').Home} options.home
 * @param {import('../processes.mjs').Reaper} options.reaper
 * @param {boolean} options.disposable speed before safety, for temporary data
 * @param {(line: string) => void} options.onLog
 * @param {number} [options.port] default: a free one
 * @param {Record<string, string>} [options.settings] of the server, beside its usual ones
 * @param {boolean} [options.isStandby] it follows a primary, from a copy of whose files it starts: nothing is
 *   made in it
 * @param {import('./postgres-binaries.mjs').Binaries} [options.binaries] default: those that are found
 * @param {Record<string, string>} [options.env] variables of the server's processes
 * @param {Passwords} [options.passwords] of a new cluster; default: random ones
 * @returns `adminUrl` is for what neither of the two roles of the service may do
 */
export async function startPostgres({
  home,
  reaper,
  disposable,
  onLog,
  port: wantedPort,
  settings: given = {},
  isStandby = false,
  binaries: givenBinaries,
  passwords: givenPasswords,
  env,
}) {
  const binaries = givenBinaries ?? (await findPostgres(home));
  const data = join(home.directory, `postgresql-${binaries.major}`);
  const passwordFile = `${data}.password`;
  const passwords = {
    admin: keptPassword(passwordFile, home.user, givenPasswords?.admin),
    owner: keptPassword(`${data}.owner-password`, home.user, givenPasswords?.owner),
    service: keptPassword(`${data}.service-password`, home.user, givenPasswords?.service),
  };
  if (!existsSync(data)) {
    onLog(`Making a PostgreSQL ${binaries.major} cluster in ${data}`);
    makeCluster({ binaries, data, passwordFile, user: home.user, disposable });
  }
  await clearOrphan(join(data, 'postmaster.pid'), data);

  const port = wantedPort ?? (await freePort());
  const settings = {
    ...(disposable ? DISPOSABLE : DURABLE),
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    ...given,
  };
  const { child, ended } = spawnServer({
    name: 'PostgreSQL',
    command: join(binaries.folder, 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    logFile: join(home.directory, 'postgresql.log'),
    user: home.user,
    // On macOS a server without a locale in its environment may end: the system asks for one in a thread.
    env: { LC_ALL: 'C', ...env },
  });
  reaper.adopt(child, 'SIGINT'); // "fast" shutdown: ends the sessions, then writes a checkpoint

  const server = `postgresql://${NAME}:${passwords.admin}@127.0.0.1:${port}`;
  const adminUrl = `${server}/${NAME}`;
  const prepare = async () => {
    if (isStandby) return (await connect(adminUrl)).end();
    await makeDatabase(server);
    await makeRoles(adminUrl, passwords);
  };
  await Promise.race([prepare(), ended]);
  return { adminUrl, ...urlsOfRoles(adminUrl, passwords), passwords, child, ended };
}

/**
 * Makes PostgreSQL's data folder with `initdb` under another name and renames it, so that an interrupted
 * start leaves no partial one.
 *
 * @param {object} options
 * @param {import('./postgres-binaries.mjs').Binaries} options.binaries
 * @param {string} options.data
 * @param {string} options.passwordFile
 * @param {import('./home.mjs').User} [options.user]
 * @param {boolean} options.disposable
 */
function makeCluster({ binaries, data, passwordFile, user, disposable }) {
  const unfinished = `${data}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  makePrivate(unfinished, user);
  const { status, stderr, error } = spawnSync(
    join(binaries.folder, 'initdb'),
    [
      `--pgdata=${unfinished}`,
      `--username=${NAME}`,
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      ...localeOf(process.platform),
      ...(disposable ? ['--no-sync'] : []),
    ],
    { ...runAs(user), encoding: 'utf8' },
  );
  if (status !== 0) throw new LauncherError(`PostgreSQL's initdb failed: ${error?.message ?? stderr}`);
  renameSync(unfinished, data);
}

/**
 * Returns the options of `initdb` for a locale that orders by bytes and knows the letters of UTF-8. macOS has
 * no C.UTF-8.
 *
 * @param {string} platform
 */
export function localeOf(platform) {
  return platform === 'darwin' ? ['--locale=C', '--lc-ctype=UTF-8'] : ['--locale=C.UTF-8'];
}

/**
 * Waits until a PostgreSQL server takes connections, and makes the database if it is missing.
 *
 * @param {string} server
 */
async function makeDatabase(server) {
  const client = await connect(`${server}/postgres`);
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`);
  } finally {
    await client.end();
  }
}

/**
 * Error codes of a PostgreSQL server that is still starting: it does not listen yet, or is not ready
 * (cannot_connect_now).
 */
const NOT_READY = ['ECONNREFUSED', '57P03'];

/** @param {string} url */
async function connect(url) {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (!NOT_READY.includes(codeOf(error) ?? '')) throw error;
    }
    await sleep(25);
  }
}
