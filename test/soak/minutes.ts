import { Stores } from '../chaos/stores';
import { markdownTable } from '../support/report';
import { Kind, KINDS } from './cluster';

export const QUEUES = ['event_queue', 'pending_deliveries', 'outbound_messages'] as const;
export type Queue = (typeof QUEUES)[number];

/** Measures at the end of a sixtieth of the run, which is a minute of a run of an hour. */
export interface Minute {
  from: number;
  to: number;
  /** Milliseconds from a request to the acceptance of its webhook, at endpoints that always answer. */
  p95Ms: number;
  /** Whether a process was down at any time of it. */
  hasRestart: boolean;
  memoryMb: Record<Kind, number>;
  /** Size of a table with its indexes. */
  queueBytes: Record<Queue, number>;
}

/** Reads the sizes of the queue tables in bytes, indexes included. */
export async function queueSizes(stores: Stores): Promise<Record<Queue, number>> {
  const columns = QUEUES.map((table) => `pg_total_relation_size('${table}')::integer AS ${table}`);
  const [row] = await stores.query<Record<Queue, number>>(`SELECT ${columns.join()}`);
  return row!;
}

export function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/**
 * Returns a percentile by the nearest rank; NaN without values.
 * @param ascending sorted values
 * @param part such as 0.95
 */
export function percentile(ascending: readonly number[], part: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? NaN;
}

/** Returns how much a value grows from one entry to the next, by least squares. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [above, below] = [0, 0];
  for (const [index, value] of values.entries()) {
    above += (index - middle) * (value - mean);
    below += (index - middle) ** 2;
  }
  return above / below;
}

export function mb(bytes: number): number {
  return bytes / 1024 / 1024;
}

const TITLES = ['Minute', 'p95, ms', ...KINDS.map((kind) => `${kind}, MB`), ...QUEUES.map((q) => `${q}, MB`)];

/** Returns the lines of a Markdown table for a minute, with a head for the first one. */
export function lineOf(minute: Minute, number: number): string {
  const row = [
    `${number}${minute.hasRestart ? ' (restart)' : ''}`.padEnd(12),
    minute.p95Ms.toFixed(0),
    ...KINDS.map((kind) => minute.memoryMb[kind].toFixed(0)),
    ...QUEUES.map((table) => mb(minute.queueBytes[table]).toFixed(1)),
  ];
  const lines = markdownTable(TITLES, [row]).split('\n');
  return (number === 0 ? lines : lines.slice(2)).join('\n');
}
