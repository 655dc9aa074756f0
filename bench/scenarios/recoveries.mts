import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import type { Deployment } from '../support/deployment.mts';
import { withFillingClient } from '../support/filling-client.mts';
import type { Receiving } from '../support/fixture.mts';
import { itemAt } from '../support/items.mts';
import { besideTrouble } from '../support/neighbour.mts';
import { absoluteRow, latencyRow, perSecond, seconds } from '../support/report.mts';
import { OLD_BODY } from '../support/settings.mts';

const POLL_MS = 500;

/**
 * Measures the latency of a workspace's events while the endpoints of many other workspaces answer again at
 * once, and are recovered automatically.
 */
export const recoveries: Scenario = {
  name: 'isolation-recoveries',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver } = environment;
    const { endpoints, events } = plan.recoveries;
    const deployment = await small();
    const measured = itemAt(await deployment.addReceiving(1, 'live'), 0);
    const others = await deployment.addReceiving(endpoints, 'live', 1, 1);
    await deployment.startService('worker');
    await receiver.expect([measured, ...others]);
    const prepare = async () => {
      progress(`making ${events} missed events for each of ${endpoints} endpoints`);
      await addMissed(deployment, others, events);
    };
    const trouble = async () => {
      const startedAt = performance.now();
      await deployment.query(
        `UPDATE webhook_endpoints SET last_success_at = now()
         WHERE id IN (SELECT endpoint_id FROM automatic_recoveries)`,
      );
      for (let left = endpoints; left > 0; await sleep(POLL_MS)) {
        const row = await deployment.queryOne<{ left: number }>(
          'SELECT count(*)::integer AS left FROM automatic_recoveries',
        );
        if (row.left !== left) progress(`${row.left} endpoints are left`);
        left = row.left;
      }
      await receiver.take(endpoints * events, 'old');
      return { tookS: (performance.now() - startedAt) / 1000 };
    };
    const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, prepare, trouble });
    await deployment.clearEvents();
    const name = `${endpoints} endpoints recover at once`;
    return [
      latencyRow(`${name}, p95 of a neighbour`, [[beside.p95, alone.p95]], 1.5, [
        { beside, alone, ...result },
      ]),
      absoluteRow(`${name}, all delivered after`, [result.tookS], seconds),
      absoluteRow(`${name}, rate`, [(endpoints * events) / result.tookS], perSecond),
    ];
  },
};

/** Adds missed events of the last hour to each workspace, and has its endpoint probed. */
async function addMissed(deployment: Deployment, others: Receiving[], count: number): Promise<void> {
  const workspaces = [
    others.map(({ id }) => id),
    others.map(({ endpoint }) => endpoint.id),
    others.map(({ conversationIds }) => itemAt(conversationIds, 0)),
  ];
  await withFillingClient(deployment.pool, (db) =>
    db.query(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT tenant_id, id, 'message.created',
              format('{"conversationId":"%s","message":{"id":"%s","body":"%s","senderType":"AGENT","createdAt":"%s"}}',
                     conversation_id, id, $4::text,
                     to_char(pg_temp.at(ms) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
              n, pg_temp.at(ms)
       FROM (SELECT w.*, n, ms, pg_temp.id_of(ms, at * $5::bigint + n) AS id
             FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS w (tenant_id, endpoint_id, conversation_id, at),
               LATERAL (SELECT n, $6::bigint + n * 1000 AS ms FROM generate_series(1, $5::bigint) AS n) AS times) AS added`,
      [...workspaces, OLD_BODY, count, Date.now() - 3_600_000],
    ),
  );
  await deployment.query(
    `UPDATE webhook_endpoints SET recovers_since = now() - interval '1 day' WHERE id = ANY ($1)`,
    [workspaces[1]],
  );
  await deployment.query(
    `INSERT INTO automatic_recoveries (tenant_id, endpoint_id, state, since, misses, probing_since, due_at, created_at)
     SELECT tenant_id, id, 'PROBING', now() - interval '2 hours', 1, now() - interval '1 minute',
            now() + interval '1 hour', now()
     FROM webhook_endpoints WHERE id = ANY ($1)`,
    [workspaces[1]],
  );
}
