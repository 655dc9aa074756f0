import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const DEFAULT_DATA_DIR = '.data';

/** Addresses that `npm start` and `npm run demo` save while their servers run. */
interface RunningServers {
  databaseUrl: string;
  databaseOwnerUrl?: string;
  redisUrl: string;
  publicUrl?: string;
  appUrl?: string;
  providerUrls?: Record<string, string>;
}

/**
 * Adds the addresses of the servers that `npm start` or `npm run demo` runs, except variables that are set.
 * If DATABASE_URL is set to another database than theirs, only the address of Redis is added.
 */
export function withRunningServers(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const given: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== ''),
  );
  const servers = runningServers(given.DATA_DIR ?? DEFAULT_DATA_DIR);
  if (!servers) return given;
  const { databaseUrl, databaseOwnerUrl, redisUrl, publicUrl, appUrl, providerUrls } = servers;
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  if ((given.DATABASE_URL ?? databaseUrl) !== databaseUrl) return { ...stores, ...given };
  return {
    ...stores,
    ...(given.ROLE !== 'api' && { DATABASE_OWNER_URL: databaseOwnerUrl }),
    ...(publicUrl && { PUBLIC_URL: publicUrl }),
    ...(appUrl && { APP_URL: appUrl }),
    ...providerUrls,
    ...given,
  };
}

/** Reads the file of addresses that the launcher writes; null if there is none, because no servers run. */
function runningServers(dataDir: string): RunningServers | null {
  const file = join(dataDir, 'servers.json');
  if (!existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8')) as RunningServers;
}

/** Returns a development checkout's encryption keys, generated once, so that stored secrets stay readable. */
export function keptSecretsKeys(dataDir: string): string {
  const file = join(dataDir, 'secrets-keys');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file)) makeSecretsKeys(file);
  return readFileSync(file, 'utf8').trim();
}

/** Generates the file of keys. If another process has just done so, that process's file stays. */
function makeSecretsKeys(file: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `local:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
