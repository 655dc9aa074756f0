import { STOPPED_AFTER_MS } from './transaction';

/** Ways of reading that suit no queue: PostgreSQL has no statistics of one, or old ones. */
const UNSUITABLE = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_incremental_sort',
  'jit',
];
const WAYS = {
  /** Rows of a queue are found by an index. */
  queue: UNSUITABLE,
  /** Rows of a queue are found by an index, and in its order. */
  ordered: [...UNSUITABLE, 'enable_sort'],
  /** Rows of any table are found by an index. */
  indexed: ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'],
};

/** Kind of reads of a transaction, by the ways in which the planner does not read for them. */
export type ReadKind = keyof typeof WAYS;

/** Returns the settings of a transaction for one kind of reads. */
export function settingsFor(kind: ReadKind): Record<string, string | number> {
  return {
    idle_in_transaction_session_timeout: STOPPED_AFTER_MS,
    // By default PostgreSQL plans each execution again: with values it knows which partitions are read.
    plan_cache_mode: 'force_generic_plan',
    ...Object.fromEntries(WAYS[kind].map((way) => [way, 'off'])),
  };
}
