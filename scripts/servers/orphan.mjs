import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { codeOf, sleep } from '../processes.mjs';

/**
 * Ends a server that a crash has left running on a data folder, and removes its pid file. Call it only while
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
 * Tells whether a process is the server of a data folder: PostgreSQL and Redis change into theirs. Another
 * process that has got the same pid does not.
 *
 * @param {number} pid
 * @param {string} directory
 */
function worksIn(pid, directory) {
  if (process.platform !== 'linux') return lsofNames(pid, directory);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/**
 * Tells the same on a system without /proc, such as macOS.
 *
 * @param {number} pid
 * @param {string} directory
 */
function lsofNames(pid, directory) {
  const { stdout } = spawnSync('lsof', ['-a', '-d', 'cwd', '-p', String(pid), '-Fn'], { encoding: 'utf8' });
  return stdout?.split('\n').includes(`n${directory}`) ?? false;
}
