import { readFileSync } from 'node:fs';

/** Returns how many files and sockets this process may have open at once; infinity if it can't be told. */
export function maxOpenFiles(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    // Only Linux has this file.
    return Infinity;
  }
  return Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
}
