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

/**
 * Returns the statements that set up a transaction for one kind of reads, on one server or on the nodes of
 * Citus. These get what `SET LOCAL` sets, and nothing of `set_config`, which sets all with one statement.
 * They plan with the values of each execution anyway, and a coordinator refuses many statements that it must
 * plan without.
 */
export function settingsFor(kind: ReadKind, hasNodes: boolean): string[] {
  const settings = Object.entries({
    idle_in_transaction_session_timeout: STOPPED_AFTER_MS,
    // By default PostgreSQL plans each execution again: with values it knows which partitions are read.
    ...(!hasNodes && { plan_cache_mode: 'force_generic_plan' }),
    ...Object.fromEntries(WAYS[kind].map((way) => [way, 'off'])),
  });
  if (hasNodes) return settings.map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  const [names, values] = [settings.map(([name]) => name), settings.map(([, value]) => value)];
  return [
    `SELECT set_config(name, setting, true)
    FROM unnest('{${names.join()}}'::text[], '{${values.join()}}'::text[])
      AS s (name, setting)`,
  ];
}
