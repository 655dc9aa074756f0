import { NAMED_WORKSPACES, SEARCHES } from '../tables/across-workspaces';
import { Route } from './routes';

/** Statements that ask all shards by the names of tables that are only known at run time. */
const OF_ALL_TABLES: Record<string, string> = {
  'Partitions.listDefaultDays': 'nightly, by one worker: a bounded read of the default partitions',
};

/** Statements whose rows are made on the coordinator, which sends them to one shard. */
const BY_COORDINATOR: Record<string, string> = {
  'AttemptRollupsRepository.addRollups': 'counts for charts, once in five seconds for each busy workspace',
};

/** Places, other than one shard, where statements of a method may run, with the reason. */
export const UNROUTED: Record<string, { kind: Route['kind']; because: string }> = {
  ...listed('all shards', { ...NAMED_WORKSPACES, ...SEARCHES, ...OF_ALL_TABLES }),
  ...listed('coordinator', BY_COORDINATOR),
};

/** Methods that are listed for Citus alone, so that one without such a statement must go. */
export const OF_CITUS_ALONE = Object.keys({ ...OF_ALL_TABLES, ...BY_COORDINATOR });

function listed(kind: Route['kind'], reasons: Record<string, string>): typeof UNROUTED {
  return Object.fromEntries(Object.entries(reasons).map(([place, because]) => [place, { kind, because }]));
}
