import type { Deployment } from './deployment.mts';

/** Names of the tables of events and finished deliveries, each with a partition for every day. */
export const HISTORY = ['events', 'webhook_deliveries', 'webhook_attempts'];

/** Returns the bytes on disk of the tables of the history with their indexes. */
export async function historyBytes(deployment: Deployment): Promise<number> {
  const { bytes } = await deployment.queryOne<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(relid))::float8 AS bytes
     FROM unnest($1::text[]) AS parent, pg_partition_tree(parent::regclass) WHERE isleaf`,
    [HISTORY],
  );
  return bytes;
}
