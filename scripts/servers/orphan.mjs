import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { sleep } from '../processes.mjs';

/**
 * Clears the way after a hard end, such as a power cut or a kill of everything at once: a server that was
 * left running over this folder is asked to end, and a pid file that names a stranger is removed.
 * Call it only while holding the folder's lock.
 *
 * @param {string} pidFile
 * @param {string} directory the server's working directory
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

/** Both servers change into their data folder: that tells one of them from a stranger with a reused pid. */
function worksIn(pid, directory) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) return false;
    throw error;
  }
}
