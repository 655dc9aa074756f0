import { Stores } from './stores';

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
