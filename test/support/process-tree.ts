import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Stops a server and then its children, because a session continues without its parent.
 * @returns the stopped processes, in that order
 */
export function stopTree(pid: number): number[] {
  process.kill(pid, 'SIGSTOP');
  return [pid, ...childrenOf(pid).flatMap(stopTree)];
}

function childrenOf(pid: number): number[] {
  const listed =
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      : spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout;
  return listed.split(/\s+/).filter(Boolean).map(Number);
}
