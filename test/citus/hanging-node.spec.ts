import { Client } from 'pg';
import { OutboxRelay } from '../../src/outbox/outbox-relay';
import { RelayTurn } from '../../src/outbox/relay-turn';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';
import { stopAtEnd } from '../support/stop-at-end';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';
import { holdShards, listNodes, workspacesOn } from './shards';

/** Workspaces of both nodes: more of each than a relay has lanes. */
const WORKSPACES = 24;
const LANES = 3;

let host: MessagingHost;
let admin: Client;

beforeAll(async () => {
  host = await MessagingHost.create();
  admin = new Client({ connectionString: host.stores.databaseAdminUrl });
  stopAtEnd(admin, () => admin.end());
  await admin.connect();
}, 60_000);

it('relays the events of other nodes while one with more workspaces than lanes hangs, and then its own', async () => {
  const workspaces: WebhookWorkspace[] = [];
  for (let n = 0; n < WORKSPACES; n++) workspaces.push(await WebhookWorkspace.create(host));
  for (const workspace of workspaces) await workspace.message();
  const tenantIds = workspaces.map(({ id }) => id);
  const [hanging] = await listNodes(admin);
  const there = await workspacesOn(admin, hanging!, tenantIds);
  const elsewhere = tenantIds.filter((id) => !there.includes(id));
  expect(there.length).toBeGreaterThan(LANES);
  expect(elsewhere.length).toBeGreaterThan(LANES);

  const run = jest.spyOn(RelayTurn.prototype, 'relayEvents');
  const onNode = await holdShards(admin, host.stores, hanging!, 'event_queue', there);
  const queued = async (ids: string[]) =>
    (
      await Promise.all(
        ids.map((id) => host.query('SELECT FROM event_queue WHERE tenant_id = $1 LIMIT 1', [id])),
      )
    ).filter((rows) => rows.length > 0).length;
  try {
    const worker = await TestService.create({ role: 'worker', beside: host });
    // As if signals had told of all of them, those of the node that hangs first.
    worker.app.get(OutboxRelay).wake([...there, ...elsewhere]);
    await waitFor('the events of the other node', async () => (await queued(elsewhere)) === 0);
    const begun = new Set(run.mock.calls.flatMap(([, { tenantIds }]) => tenantIds));
    expect(elsewhere.every((id) => begun.has(id))).toBe(true);
    // In their order, the events of all workspaces of the node that hangs would have come first.
    expect(there.filter((id) => begun.has(id)).length).toBeLessThan(there.length);
  } finally {
    await onNode.query('ROLLBACK');
    await onNode.end();
  }
  await waitFor('the events of the node', async () => (await queued(there)) === 0);
}, 60_000);
