import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { sleep } from '../processes.mjs';

/**
 * After a crash, ends a server that still runs on this folder, and removes its pid file. Call it only while holding the
 * folder's lock.
 */
export async function clearOrphan(pidFile, directory) {
  if (!existsSync(pidFile)) return;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  if (worksIn(pid, directory)) {
    process.kill(pid, 'SIGINT');
    while (worksIn(pid, directory)) await sleep(50);
  }
  rmSync(pidFile, { force: true });
}

/** Both servers change into their data folder. Another process with a reused pid does not. */
function worksIn(pid, directory) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) return false;
    throw error;
  }
}
