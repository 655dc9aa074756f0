import { readFileSync } from 'node:fs';

/** Returns how many files and sockets this process may have open at once; infinity if that is unknown. */
export function maxOpenFiles(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return Infinity;
  }
  return Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
}
