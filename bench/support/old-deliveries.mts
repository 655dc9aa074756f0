import type pg from 'pg';
import { withoutIndexes } from './filling-client.mts';
import { DAY_MS, EPOCH_MS, lowestId, type Fixture } from './fixture.mts';
import { HISTORY } from './history.mts';
import { itemAt } from './items.mts';
import type { Sizes } from './plan.mts';

/** Number of days of old deliveries, from the first conversation's until the day before yesterday. */
const OLD_DAYS = 18;

/**
 * Inserts `oldDeliveries` succeeded deliveries with their events. Half of them belong to the measured
 * endpoints.
 */
export async function insertOldDeliveries(
  db: pg.PoolClient,
  { receiving, otherEndpoints }: Fixture,
  { oldDeliveries }: Sizes,
): Promise<void> {
  if (oldDeliveries === 0) return;
  for (const table of HISTORY) await makePartitions(db, table, EPOCH_MS, OLD_DAYS);
  const measured = receiving.map(({ endpoint }) => endpoint);
  const others = otherEndpoints.length > 0 ? otherEndpoints : measured;
  const parameters = [measured, others].flatMap((endpoints) => [
    endpoints.map(({ id }) => id),
    endpoints.map(({ tenantId }) => tenantId),
  ]);
  const owner = (measuredParameter: string, otherParameter: string) => `
    CASE WHEN n % 2 = 0 THEN (${measuredParameter}::uuid[])[1 + n / 2 % array_length(${measuredParameter}::uuid[], 1)]
         ELSE (${otherParameter}::uuid[])[1 + n / 2 % array_length(${otherParameter}::uuid[], 1)] END`;
  const ms = `${EPOCH_MS} + n * ${OLD_DAYS * DAY_MS} / ${oldDeliveries}`;
  await db.query(
    `CREATE TEMP TABLE old AS
     SELECT pg_temp.id_of(${ms}, n) AS id, ${owner('$1', '$3')} AS endpoint_id, ${owner('$2', '$4')} AS tenant_id,
            pg_temp.at(${ms}) AS at
     FROM generate_series(1, $5::bigint) AS n`,
    [...parameters, oldDeliveries],
  );
  const body = JSON.stringify({
    conversationId: itemAt(receiving, 0).conversationIds[0],
    message: { body: 'Hello' },
  });
  await withoutIndexes(db, 'events', () =>
    db.query(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT tenant_id, id, 'message.created', $1, 1, at FROM old`,
      [body],
    ),
  );
  await withoutIndexes(db, 'webhook_deliveries', () =>
    db.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
                                       finished_at, attempted_at, duration_ms, status_code, response)
       SELECT tenant_id, id, 1, endpoint_id, id, 'message.created', 'SUCCEEDED', 1, at, at, 12, 200, '' FROM old`,
    ),
  );
}

/**
 * Makes a table's partitions of past days, which the migration does not make. They get the table's owner,
 * because only the owner may drop them.
 */
export async function makePartitions(
  db: pg.Pool | pg.PoolClient,
  table: string,
  since: number,
  days: number,
): Promise<void> {
  const { rows } = await db.query<{ owner: string }>(
    'SELECT relowner::regrole::text AS owner FROM pg_class WHERE oid = $1::regclass',
    [table],
  );
  const { owner } = itemAt(rows, 0);
  const first = Math.floor(since / DAY_MS) * DAY_MS;
  for (let n = 0; n <= days; n++) {
    const [day, next] = [first + n * DAY_MS, first + (n + 1) * DAY_MS];
    const name = new Date(day).toISOString().slice(0, 10).replaceAll('-', '');
    await db.query(`
      CREATE TABLE IF NOT EXISTS ${table}_${name} PARTITION OF ${table}
      FOR VALUES FROM ('${lowestId(day)}') TO ('${lowestId(next)}');
      ALTER TABLE ${table}_${name} OWNER TO ${owner}`);
  }
}
