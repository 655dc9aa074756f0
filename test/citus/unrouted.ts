import { NAMED_WORKSPACES, SEARCHES } from '../tables/across-workspaces';

/** Statements that ask all shards by the names of tables that are only known at run time. */
export const OF_ALL_TABLES: Record<string, string> = {
  'Partitions.countDefaultRows':
    'nightly, and at every scrape of the metrics: a bounded read of the default partitions, which are empty',
  'Partitions.listDefaultDays': 'nightly, by one worker: a bounded read of the default partitions',
};

/** Methods whose statements may ask all shards, with the reason. All others ask one. */
export const UNROUTED: Record<string, string> = { ...NAMED_WORKSPACES, ...SEARCHES, ...OF_ALL_TABLES };
