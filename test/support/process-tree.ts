import { readFileSync } from 'node:fs';

/**
 * Stops a server and then its children, because a session continues without its parent.
 * @returns the stopped processes, in that order
 */
export function stopTree(pid: number): number[] {
  process.kill(pid, 'SIGSTOP');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => stopTree(Number(child)))];
}
