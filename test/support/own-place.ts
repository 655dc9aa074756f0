import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';

export type Place = Awaited<ReturnType<typeof ownPlace>>;

/** Makes a place for one test's own servers. `reaper.finish()` ends them, and removes their files. */
export async function ownPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-servers-'));
  chmodSync(folder, 0o755); // the servers may run as another user
  const home = findHome(folder);
  const reaper = await startReaper();
  for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
  return { home, reaper, onLog: () => undefined };
}
