import { STOPPED_AFTER_MS } from './transaction';

/** Planner settings that are off for a queue (a table of waiting work), as its statistics may be old. */
const UNSUITABLE = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_incremental_sort',
  'jit',
];
const WAYS = {
  /** Reads of a queue by an index. */
  queue: UNSUITABLE,
  /** Reads of a queue by an index, in the order of that index. */
  ordered: [...UNSUITABLE, 'enable_sort'],
  /** Reads of any table by an index. */
  indexed: ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'],
};

export type ReadKind = keyof typeof WAYS;

export function settingsFor(kind: ReadKind): Record<string, string | number> {
  return {
    idle_in_transaction_session_timeout: STOPPED_AFTER_MS,
    // Makes one plan for all values. Otherwise PostgreSQL would plan each execution by the partitions it
    // reads.
    plan_cache_mode: 'force_generic_plan',
    ...Object.fromEntries(WAYS[kind].map((way) => [way, 'off'])),
  };
}
