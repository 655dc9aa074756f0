import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';
import { tail } from '../../scripts/servers/server-process.mjs';

const LOG_LINES = 40;

export type ServerContext = Awaited<ReturnType<typeof makeServerContext>>;

/**
 * Makes a folder and a reaper for servers of one test. `reaper.finish()` ends the servers and removes their
 * files.
 */
export async function makeServerContext() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-servers-'));
  chmodSync(folder, 0o755); // the servers may run as another user
  const home = findHome(folder);
  const reaper = await startReaper();
  for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
  return { home, reaper, onLog: () => undefined };
}

/**
 * Runs `work`. A failure shows the end of each log of the servers, which are removed with their folder.
 */
export async function withLogs({ home }: ServerContext, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const files = readdirSync(home.directory, { recursive: true, encoding: 'utf8' });
    const logs = files
      .filter((file) => file.endsWith('.log'))
      .map((file) => `${file}:\n${tail(join(home.directory, file), LOG_LINES)}`);
    throw new Error(`The servers' logs:\n${logs.join('\n\n')}\n`, { cause });
  }
}
