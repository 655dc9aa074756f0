import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isPortFree, LauncherError, requireValue, sleep } from './processes.mjs';
import { startServers } from './servers.mjs';
import { DATA_DIR, ROOT } from './servers/home.mjs';

/** V8's options, as in the image: it collects garbage earlier, so a process holds less memory. */
export const HEAP_OPTIONS = ['--max-semi-space-size=8', '--heap-growing-percent=100'];

/** Ports of `npm start`, by the variables that name them. */
export const START_PORTS = {
  PORT: Number(process.env.PORT || 3000),
  DASHBOARD_PORT: Number(process.env.DASHBOARD_PORT || 3100),
};

/** Address on which the launchers' processes listen: this machine alone, unless told otherwise. */
export const HOST = process.env.HOST || '127.0.0.1';

/** Throws unless the ports of `npm start` are free. */
export async function requireFreePorts() {
  for (const [variable, wanted] of Object.entries(START_PORTS)) {
    if (await isPortFree(wanted, HOST)) continue;
    const example = `${variable}=${wanted + 1} npm start`;
    throw new LauncherError(`Port ${wanted} is taken. Choose another one, for example: ${example}`);
  }
}

/**
 * Returns the path of a compiled file.
 *
 * @param {string} path such as `dist/cli.js`
 */
function built(path) {
  const file = join(ROOT, path);
  if (!existsSync(file))
    throw new LauncherError(`${relative(ROOT, file)} is missing: run "npm run build" first.`);
  return file;
}

/**
 * Starts the servers on the checkout's data, saves their addresses for the CLI in another terminal, and
 * migrates the database.
 *
 * @param {(line: string) => void} onLog
 * @returns {Promise<{ servers: import('./servers.mjs').Servers, env: NodeJS.ProcessEnv }>}
 */
export async function startMigratedServers(onLog) {
  built('dist/main.js');
  const servers = await startServers({ dataDir: DATA_DIR, onLog });
  if (servers.embedded) await saveAddresses(servers);
  const env = {
    ...process.env,
    DATABASE_URL: servers.databaseUrl,
    DATABASE_OWNER_URL: servers.databaseOwnerUrl,
    REDIS_URL: servers.redisUrl,
    DATA_DIR,
  };
  try {
    await runCli(['migrate'], env);
  } catch (error) {
    await servers.stop();
    throw error;
  }
  return { servers, env };
}

/**
 * Saves the defaults of this checkout's CLI: the addresses of the servers and, once the service runs, those
 * that it uses. Replaces the file atomically, because the CLI may read it at any time.
 *
 * @param {import('./servers.mjs').Servers} servers
 * @param {NodeJS.ProcessEnv} [env] the service's
 */
async function saveAddresses({ databaseUrl, databaseOwnerUrl, redisUrl, reaper }, env = {}) {
  const { pickProviderUrls } = await import('#dist/common/channel-descriptors.js');
  const file = join(DATA_DIR, 'servers.json');
  const addresses = {
    databaseUrl,
    databaseOwnerUrl,
    redisUrl,
    publicUrl: env.PUBLIC_URL,
    appUrl: env.APP_URL,
    providerUrls: pickProviderUrls(env),
  };
  mkdirSync(DATA_DIR, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(addresses, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  reaper.removeAtEnd(file);
}

/**
 * Runs a command of the CLI.
 *
 * @template Result the JSON object that the command prints
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Result>}
 */
export async function runCli(args, env) {
  const child = spawn(process.execPath, [built('dist/cli.js'), ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output.stderr += text));
  const [code] = await once(child, 'close');
  if (code === 0) return JSON.parse(output.stdout);
  throw new LauncherError(`The command "${args.join(' ')}" failed:\n${output.stderr || output.stdout}`);
}

/**
 * Starts the service, waits until it is ready, and saves its addresses for the CLI in another terminal.
 *
 * @param {Options} options
 * @returns {Promise<Running>}
 *
 * @typedef {object} Options
 * @property {import('./servers.mjs').Servers} servers
 * @property {NodeJS.ProcessEnv} env
 * @property {number} port
 * @property {'inherit' | number} log where its log lines go
 *
 * @typedef {{ url: string, pid: number, failed: Promise<never> }} Running `failed` rejects when it stops
 */
export async function startApp({ servers, env, port, log }) {
  const url = `http://localhost:${port}`;
  /** @type {NodeJS.ProcessEnv} */
  const appEnv = { ...env, PORT: String(port), PUBLIC_URL: env.PUBLIC_URL || url };
  if (env.ROLE === 'api') delete appEnv.DATABASE_OWNER_URL;
  const program = [...HEAP_OPTIONS, built('dist/main.js')];
  const app = await startProcess('The service', program, { servers, env: appEnv, port, log });
  if (servers.embedded) await saveAddresses(servers, appEnv);
  return app;
}

/**
 * Starts the dashboard beside the service, and waits until it is ready.
 *
 * @param {Options & { publicUrl: string }} options `publicUrl` is the service's
 * @returns {Promise<Running>}
 */
export async function startDashboard({ servers, env, port, log, publicUrl }) {
  const { keptSecretsKeys } = await import('#dist/config/local-data.js');
  /** @type {NodeJS.ProcessEnv} */
  const dashboardEnv = {
    ...env,
    PORT: String(port),
    PUBLIC_URL: env.PUBLIC_URL || publicUrl,
    SECRETS_KEYS: env.SECRETS_KEYS || keptSecretsKeys(DATA_DIR),
    // It reads no DATA_DIR, and must have the service's files.
    FILE_STORE_DIRECTORY: env.FILE_STORE_DIRECTORY || join(DATA_DIR, 'files'),
  };
  delete dashboardEnv.DATABASE_OWNER_URL;
  const program = [built('dashboard/dist/server/main.js')];
  return startProcess('The dashboard', program, { servers, env: dashboardEnv, port, log });
}

/**
 * Starts a program, and waits until it is ready.
 *
 * @param {string} name
 * @param {string[]} program
 * @param {Options} options
 * @returns {Promise<Running>}
 */
async function startProcess(name, program, { servers, env, port, log }) {
  const child = spawn(process.execPath, program, {
    cwd: ROOT,
    env: { ...env, HOST },
    detached: true, // Ctrl-C must reach only the launcher; the reaper ends the process
    stdio: ['ignore', log, log],
  });
  servers.reaper.adopt(child, 'SIGTERM');
  /** @type {Promise<never>} */
  const failed = once(child, 'exit').then(([code, signal]) => {
    throw new LauncherError(`${name} stopped by itself (${signal ?? `exit code ${code}`}).`);
  });
  failed.catch(() => undefined); // no unhandled rejection after a wanted stop
  const url = `http://localhost:${port}`;
  await Promise.race([ready(url), failed]);
  return { url, pid: requireValue(child.pid, 'process'), failed };
}

/** @param {string} url */
async function ready(url) {
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined); // refused until it listens
    if (response?.ok) return;
    await response?.body?.cancel();
    await sleep(50);
  }
}
