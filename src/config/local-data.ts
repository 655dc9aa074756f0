import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The embedded servers of this checkout, and the addresses that its service uses. */
export interface RunningServers {
  databaseUrl: string;
  /** Of the tables' owner. */
  databaseOwnerUrl?: string;
  redisUrl: string;
  publicUrl?: string;
  /** Of the dashboard. */
  appUrl?: string;
  /** By environment variable. */
  providerUrls?: Record<string, string>;
}

/** The launcher's file exists while they run. */
export function runningServers(dataDir: string): RunningServers | null {
  const file = join(dataDir, 'servers.json');
  if (!existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8')) as RunningServers;
}

/** The encryption keys of a development checkout: generated once, then kept, so that stored secrets stay readable. */
export function keptSecretsKeys(dataDir: string): string {
  const file = join(dataDir, 'secrets-keys');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file)) makeSecretsKeys(file);
  return readFileSync(file, 'utf8').trim();
}

/** Links a complete file into place, so that two processes that start together read the same key. */
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
