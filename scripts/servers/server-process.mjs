import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { LauncherError } from '../processes.mjs';
import { runAs } from './home.mjs';

/**
 * Starts a server in a process group of its own, which the terminal's Ctrl-C does not reach. The caller's
 * reaper ends it.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} [options.input] for its standard input
 * @param {string} options.logFile
 * @param {import('./home.mjs').User} [options.user]
 * @param {Record<string, string>} [options.env] variables beside those of this process
 * @returns `ended` rejects with the end of the log when the process stops
 */
export function spawnServer({ name, command, args, input, logFile, user, env }) {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(command, args, {
    ...runAs(user),
    env: { ...process.env, ...env },
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', log, log],
  });
  closeSync(log);
  child.stdin?.end(input);
  child.unref();

  /** @type {Promise<never>} */
  const ended = new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(
        new LauncherError(`${name} stopped (${signal ?? code}). The end of ${logFile}:\n${tail(logFile)}`),
      );
    });
  });
  ended.catch(() => undefined); // no unhandled rejection after a wanted stop
  return { child, ended };
}

/**
 * Returns a server's password, made at the first start and kept beside its data.
 *
 * @param {string} file
 * @param {import('./home.mjs').User} [user]
 * @param {string} [first] the password to keep; default: a random one
 */
export function keptPassword(file, user, first = randomBytes(24).toString('base64url')) {
  if (!existsSync(file)) {
    writeFileSync(file, first, { mode: 0o600 });
    if (user) chownSync(file, user.uid, user.gid);
  }
  return readFileSync(file, 'utf8');
}

/**
 * Returns the last lines of a log file; an empty text if it does not exist, as after a server that was
 * stopped on purpose.
 *
 * @param {string} file
 * @param {number} lines
 */
export function tail(file, lines = 15) {
  if (!existsSync(file)) return '';
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}
