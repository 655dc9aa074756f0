import { newId } from '../../src/common/ids';
import { Stores } from './stores';

/** Has a partition for each span of time, and a default one. */
const PARTITIONED = 'events';

/** Everything that the suite knows of the service's own tables. */

/** Events and deliveries that are not finished. */
export async function pending(stores: Stores): Promise<number> {
  const [row] = await stores.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM events WHERE relayed_at IS NULL)::integer
          + (SELECT count(*) FROM webhook_deliveries WHERE status = 'PENDING')::integer AS count`,
  );
  return row!.count;
}

export async function deliveriesByStatus(
  stores: Stores,
  workspaceIds: Iterable<string>,
): Promise<Record<string, number>> {
  const rows = await stores.query<{ status: string; count: number }>(
    `SELECT status, count(*)::integer AS count FROM webhook_deliveries
     WHERE tenant_id = ANY($1) GROUP BY status ORDER BY status`,
    [[...workspaceIds]],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Stores an event that no service makes: its message's id is no UUID. */
export async function storePoisonedEvent(stores: Stores, workspaceId: string): Promise<void> {
  const message = { id: 'poison', body: 'Poison', senderType: 'CUSTOMER', createdAt: new Date() };
  await stores.query(
    `INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, 'message.created', $3, now())`,
    [workspaceId, newId(), { conversationId: newId(), message }],
  );
}

/** Whether there is a partition to take away. */
export async function isPartitioned(stores: Stores): Promise<boolean> {
  const [row] = await stores.query<{ relkind: string }>(
    'SELECT relkind FROM pg_class WHERE oid = $1::regclass',
    [PARTITIONED],
  );
  return row!.relkind === 'p';
}

/**
 * Takes the partition of the newest rows away. New rows go to the default partition.
 * @returns brings it back, with the rows that belong to it
 */
export async function takePartitionAway(stores: Stores): Promise<() => Promise<void>> {
  const [newest] = await stores.query<{ partition: string; bound: string }>(
    `SELECT p.oid::regclass::text AS partition, pg_get_expr(p.relpartbound, p.oid) AS bound
     FROM pg_class p WHERE p.oid = (SELECT tableoid FROM ${PARTITIONED} ORDER BY id DESC LIMIT 1)`,
  );
  const { partition, bound } = newest!;
  await stores.query(`ALTER TABLE ${PARTITIONED} DETACH PARTITION ${partition}`);
  return async () => {
    const [other] = await stores.query<{ name: string }>(
      'SELECT partdefid::regclass::text AS name FROM pg_partitioned_table WHERE partrelid = $1::regclass',
      [PARTITIONED],
    );
    await stores.query(
      `BEGIN;
       LOCK TABLE ${PARTITIONED} IN ACCESS EXCLUSIVE MODE;
       WITH moved AS (DELETE FROM ${other!.name} RETURNING *) INSERT INTO ${partition} SELECT * FROM moved;
       ALTER TABLE ${PARTITIONED} ATTACH PARTITION ${partition} ${bound};
       COMMIT`,
    );
  };
}
