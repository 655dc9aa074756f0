/** Its tables, each partitioned by the day. */
export const HISTORY = ['events', 'webhook_deliveries', 'webhook_attempts'];

/** Disk that the history takes, with its indexes. */
export async function historyBytes(deployment) {
  const [{ bytes }] = await deployment.query(
    `SELECT sum(pg_total_relation_size(relid))::float8 AS bytes
     FROM unnest($1::text[]) AS parent, pg_partition_tree(parent::regclass) WHERE isleaf`,
    [HISTORY],
  );
  return bytes;
}
