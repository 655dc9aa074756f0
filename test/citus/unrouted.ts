import { LOCKS, NAMED_WORKSPACES, SEARCHES } from '../tables/across-workspaces';

/** Statements that ask all shards by the names of tables that are only known at run time. */
export const OF_ALL_TABLES: Record<string, string> = {
  'Partitions.countDefaultRows':
    'nightly, and at every scrape of the metrics: a bounded read of the default partitions, which are empty',
  'Partitions.listDefaultDays': 'nightly, by one worker: a bounded read of the default partitions',
};

/** Methods whose statements may ask all shards, with the reason. All others ask one. */
export const UNROUTED: Record<string, string> = {
  ...NAMED_WORKSPACES,
  ...SEARCHES,
  ...LOCKS,
  ...OF_ALL_TABLES,
  'LoginSessionsRepository.readMemberships':
    'a person is an agent of several workspaces: each node is asked for those that it has',
};

/** Methods whose statements have a part that the coordinator works out, with the reason. */
export const BY_COORDINATOR: Record<string, string> = {
  'TableRowsRepository.cleanUp':
    'nightly, in steps of bounded size: rows of people who log in, whose tables are on the coordinator',
  'TableRowsRepository.deleteStep':
    'at the deletion of a workspace, in steps of bounded size: its look-ups, whose tables are on the coordinator',
};
