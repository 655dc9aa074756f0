import { readFileSync } from 'node:fs';

/** Linux counts a process's time in hundredths of a second. */
const TICK_MS = 10;

/** The time on a processor that a process has used so far. */
export function processorMs(/** @type {number} */ pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name, which stands in brackets and may hold anything: the 12th and 13th are user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** What a process holds of the machine's memory. */
export function residentMb(/** @type {number} */ pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}
