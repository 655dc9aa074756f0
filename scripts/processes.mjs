import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const REAPER = fileURLToPath(new URL('reaper.sh', import.meta.url));

/** A fault whose message is meant for the person at the terminal: printed without a stack. */
export class LauncherError extends Error {}

/**
 * @typedef {object} Reaper
 * @property {(child: import('node:child_process').ChildProcess, signal: NodeJS.Signals) => void} adopt
 *   has the process ended, the latest adopted first, when this process stops for whatever reason
 * @property {(child: import('node:child_process').ChildProcess) => void} release leaves it alone after all: it
 *   has ended, and its number may be a stranger's by then
 * @property {(path: string) => void} removeAtEnd has a file or folder removed after that
 * @property {() => Promise<void>} finish ends everything now; resolves when all is gone
 */

/**
 * Starts the small process that outlives this one, to end what this one started even after a SIGKILL.
 *
 * @param {string} [lockFile] held until everything has ended, so that two launchers never share a folder
 * @returns {Promise<Reaper>}
 */
export async function startReaper(lockFile) {
  const child = spawn('/bin/sh', [REAPER, ...(lockFile ? [lockFile] : [])], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const answer = await firstLine(child);
  if (answer.startsWith('busy')) {
    throw new LauncherError(
      `The servers of this folder are in use by another launcher (process ${answer.slice(5)}). ` +
        'Stop that one first (Ctrl-C in its terminal), or use it as it is.',
    );
  }
  if (answer !== 'ready') throw new LauncherError(`Cannot lock ${lockFile}: is it yours to write?`);
  child.stdout.destroy();
  child.unref();
  const tell = (/** @type {string} */ line) => child.stdin.write(`${line}\n`);
  return {
    adopt: (process, signal) => void tell(`end ${signal.replace('SIG', '')} ${process.pid}`),
    release: (process) => void tell(`release ${process.pid}`),
    removeAtEnd: (path) => void tell(`remove ${path}`),
    finish: async () => {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}

/** @param {import('node:child_process').ChildProcess} child */
async function firstLine(child) {
  for await (const line of createInterface({ input: child.stdout })) return line;
  return '';
}

/** A TCP port of the loopback address that nobody listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * @param {number} port
 * @param {string} host
 */
export async function isPortFree(port, host) {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (error.code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** @param {number} milliseconds */
export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Resolves when somebody wants this process to end: Ctrl-C, a signal, or the `npm` that started it is gone
 * (a SIGKILL of npm reaches nobody else). Later signals change nothing: the way down is on already.
 *
 * @returns {Promise<void>}
 */
export function untilStopped() {
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

/** Prints a fault: a launcher's own as a sentence, anything else with its stack. */
export function printFault(error) {
  console.error(error instanceof LauncherError ? `\n${error.message}\n` : error);
}
