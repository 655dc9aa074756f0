import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LauncherError } from '../processes.mjs';

/** Folder of the checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folder of the checkout's data. */
export const DATA_DIR = resolve(ROOT, process.env.DATA_DIR || '.data');

const ELSEWHERE = '/var/lib/conversation-messaging-service';

/**
 * User of the machine that runs the servers.
 *
 * @typedef {{ uid: number, gid: number }} User
 */

/**
 * Data folder of the servers, and the user that runs them.
 *
 * @typedef {object} Home
 * @property {string} directory
 * @property {User | undefined} user undefined: the caller
 */

/**
 * Chooses the servers' user and data folder. Root runs them as another user, because PostgreSQL refuses to
 * run as root. If that user can't reach the checkout, the data is in /var/lib, under a name made from the
 * checkout's path, so that the next start finds it.
 *
 * @param {string} dataDir
 * @returns {Home}
 */
export function findHome(dataDir) {
  mkdirSync(dataDir, { recursive: true });
  const directory = realpathSync(dataDir);
  if (process.getuid?.() !== 0) return { directory, user: undefined };

  const user = unprivilegedUser(directory);
  const elsewhere = join(ELSEWHERE, createHash('sha256').update(directory).digest('hex').slice(0, 16));
  if (!existsSync(elsewhere) && canReach(directory, user)) return { directory, user };
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  return { directory: elsewhere, user };
}

/**
 * Makes a folder that only the servers' user can enter.
 *
 * @param {string} directory
 * @param {User} [user]
 */
export function makePrivate(directory, user) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (user) chownSync(directory, user.uid, user.gid);
}

/**
 * Returns the options of `spawn` that run a child process as a user, in a working directory that every user
 * can enter.
 *
 * @param {User} [user]
 */
export const runAs = (user) => ({ cwd: '/', ...user });

/**
 * @param {string} directory
 * @returns {User}
 */
function unprivilegedUser(directory) {
  const owner = statSync(directory);
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const user = lookUp('postgres') ?? lookUp('nobody');
  if (user) return user;
  throw new LauncherError(
    'PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody" to run it as. ' +
      'Start this as another user, or set DATABASE_URL.',
  );
}

/**
 * @param {string} name
 * @returns {User | undefined}
 */
function lookUp(name) {
  const [uid, gid] = [idOf('-u', name), idOf('-g', name)];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * @param {'-u' | '-g'} flag of the command `id`
 * @param {string} name
 */
function idOf(flag, name) {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}

/**
 * @param {string} directory
 * @param {User} user
 */
function canReach(directory, user) {
  return spawnSync('test', ['-x', directory], runAs(user)).status === 0;
}
