import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const REAPER = fileURLToPath(new URL('reaper.sh', import.meta.url));

/** A fault with a message for the person at the terminal, printed without a stack. */
export class LauncherError extends Error {}

/**
 * Throws on Windows, where the launchers and the tests lack a shell and signals.
 *
 * @param {string} platform
 */
export function requireUnix(platform) {
  if (platform !== 'win32') return;
  throw new LauncherError(
    'Windows itself cannot run this. Run it in the Windows Subsystem for Linux (wsl --install), with the checkout ' +
      'in the file system of Linux, such as ~/service.',
  );
}

/** @import { ChildProcess } from 'node:child_process' */

/**
 * A process that ends others when this one stops, for any reason.
 *
 * @typedef {object} Reaper
 * @property {(child: ChildProcess, signal: NodeJS.Signals) => void} adopt ends the process at the end, the
 *   latest first
 * @property {(child: ChildProcess) => void} release forgets a process that has ended: its number may belong
 *   to another process by then
 * @property {(path: string) => void} removeAtEnd removes a file or folder after the processes
 * @property {() => Promise<void>} finish ends and removes everything now
 */

/**
 * Starts a small process that outlives this one. It ends the processes of this one even after a SIGKILL.
 *
 * @param {string} [lockFile] held until all have ended, so that two launchers never share a folder
 * @returns {Promise<Reaper>}
 */
export async function startReaper(lockFile) {
  requireUnix(process.platform);
  const child = spawn('/bin/sh', [REAPER, ...(lockFile ? [lockFile] : [])], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const answer = await firstLine(child.stdout);
  if (answer.startsWith('busy')) {
    throw new LauncherError(
      `The servers of this folder are in use by another launcher (process ${answer.slice(5)}). ` +
        'Stop that launcher first (Ctrl-C in its terminal), or use its servers.',
    );
  }
  if (answer !== 'ready') throw new LauncherError(`Cannot lock ${lockFile}: is it yours to write?`);
  child.stdout.destroy();
  child.unref();
  const send = (/** @type {string} */ line) => child.stdin.write(`${line}\n`);
  return {
    adopt: (process, signal) => void send(`end ${signal.replace('SIG', '')} ${process.pid}`),
    release: (process) => void send(`release ${process.pid}`),
    removeAtEnd: (path) => void send(`remove ${path}`),
    finish: async () => {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}

/** @param {import('node:stream').Readable} input */
async function firstLine(input) {
  for await (const line of createInterface({ input })) return line;
  return '';
}

/**
 * Ports for servers of this machine, `to` excluded. They lie below those that Linux gives to outgoing
 * connections, one of which might take a free port before its server does, or while the server is restarted.
 */
const SERVER_PORTS = { from: 20_000, to: 32_768 };

/** Finds a TCP port of the loopback address that is not in use. */
export async function freePort() {
  for (;;) {
    const port = randomInt(SERVER_PORTS.from, SERVER_PORTS.to);
    if (await isPortFree(port, '127.0.0.1')) return port;
  }
}

/**
 * Returns the port that a server listens on.
 *
 * @param {import('node:net').Server} server
 */
export function portOf(server) {
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

/**
 * Tells whether a server could listen on a port.
 *
 * @param {number} port
 * @param {string} host
 */
export async function isPortFree(port, host) {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * Returns the code of a system's error, such as ENOENT.
 *
 * @param {unknown} error
 */
export function codeOf(error) {
  return error instanceof Error ? /** @type {NodeJS.ErrnoException} */ (error).code : undefined;
}

/**
 * Returns the message of an error.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns a value. Throws if it is missing, which only a mistake in the code can cause.
 *
 * @template Value
 * @param {Value} value
 * @param {string} name of the value, for the error
 * @returns {NonNullable<Value>}
 */
export function requireValue(value, name) {
  if (value === undefined || value === null) throw new Error(`There is no ${name}.`);
  return value;
}

/**
 * Resolves after a time.
 *
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Resolves when this process must end: on Ctrl-C, on a signal, or when the `npm` that started it is gone (a
 * SIGKILL of npm does not reach this process). Later signals have no effect.
 *
 * @returns {Promise<void>}
 */
function untilStopped() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve());
    if (!process.env.npm_lifecycle_event) return;
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) resolve();
    }, 500);
    watch.unref();
  });
}

/**
 * Prints a LauncherError as a sentence, any other error with its stack.
 *
 * @param {unknown} error
 */
export function printFault(error) {
  console.error(error instanceof LauncherError ? `\n${error.message}\n` : error);
}

/**
 * Runs a launcher until its work ends, or somebody stops it, and ends the process. A fault is printed, and
 * makes the exit code 1.
 *
 * @param {() => Promise<unknown>} work
 * @param {object} ends
 * @param {() => Promise<unknown> | undefined} ends.stop stops what the work has started
 * @param {() => void} [ends.onInterrupt] called when somebody stops it
 * @returns {Promise<never>}
 */
export async function runLauncher(work, { stop, onInterrupt }) {
  try {
    await Promise.race([work(), untilStopped().then(onInterrupt)]);
  } catch (error) {
    printFault(error);
    process.exitCode = 1;
  }
  await stop();
  process.exit();
}
