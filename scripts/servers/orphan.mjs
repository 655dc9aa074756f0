import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { codeOf, sleep } from '../processes.mjs';

/**
 * Ends a server that still runs on a folder after a crash, and removes its pid file. Call it only while
 * holding the folder's lock.
 *
 * @param {string} pidFile
 * @param {string} directory
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

/**
 * Tells whether a server's process is there: both servers change into their data folder. Another process with
 * a reused pid does not.
 *
 * @param {number} pid
 * @param {string} directory
 */
function worksIn(pid, directory) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}
