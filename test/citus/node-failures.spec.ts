import { print } from '../support/report';
import { waitFor } from '../support/wait';
import { CitusNodes, Group } from './citus-nodes';
import { LoadByNode } from './load-by-node';

/** Messages of each node before a failure, while it lasts, and after it. */
const MESSAGES = 20;
/** Time in which workspaces get answers and webhooks while another node hangs or is dead. */
const OTHERS_WAIT_MS = 4_000;
/** Connections of each process, as it has by default: fewer than a node has workspaces. */
const CONNECTIONS = { DATABASE_POOL_SIZE: '20' };
/** Requests a second for the workspaces of a node that hangs: many more than there are connections. */
const FLOOD_PER_S = 50;
/** Time for which a node hangs. */
const HANGS_MS = 12_000;
/** Time in which messages are taken again once a coordinator runs again, or a standby has taken over. */
const BACK_WITHIN_MS = 10_000;
/** Time for which a request may wait, with its repetitions, while its rows move to another node. */
const MOVE_WAITS_MS = 10_000;

describe('nodes of Citus under load', () => {
  let nodes: CitusNodes;
  let load: LoadByNode;
  let first: Group;
  let second: Group;

  beforeAll(async () => {
    nodes = await CitusNodes.start({ standbys: true });
    [first, second] = (await nodes.groups()) as [Group, Group];
    load = await LoadByNode.start(nodes, nodes.stores, CONNECTIONS);
    await load.waitForMore(MESSAGES);
  }, 240_000);
  afterAll(async () => {
    await load?.stop();
    await nodes?.stop();
  });

  it('serve the workspaces of one while another hangs', async () => {
    await load.of(first).holdAttempts();
    const frozenAt = Date.now();
    const endFlood = load.flood(first, FLOOD_PER_S);
    await nodes.freezeWorker(first, HANGS_MS);
    const flood = endFlood();
    const waits = {
      'longest request of others': load.of(second).longestWait(frozenAt),
      'longest delivery of others': load.of(second).longestDelivery(frozenAt),
      'messages of others': load.of(second).countSince(frozenAt),
      flood,
      'refused requests of others': load.of(second).client.retries.length,
    };
    await load.waitForMore(MESSAGES);
    expect(waits['refused requests of others']).toBe(0);
    expect(waits['longest request of others']).toBeLessThan(OTHERS_WAIT_MS);
    expect(waits['longest delivery of others']).toBeLessThan(OTHERS_WAIT_MS);
    print(`A worker node hung for ${HANGS_MS} ms. In ms: ${JSON.stringify(waits)}`);
  }, 180_000);

  it('serve the workspaces of one while another is dead, and those of the dead one by its standby', async () => {
    const killedAt = Date.now();
    await nodes.killWorker(first);
    await load.of(second).waitForMore(MESSAGES);
    expect(load.of(first).client.retries.length).toBeGreaterThan(0);
    const promotedAt = Date.now();
    await nodes.promoteStandby(first);
    await load.waitForMore(MESSAGES);
    await nodes.untilSynced();

    const waits = {
      'promotion to first message': load.of(first).firstAfter(promotedAt) - promotedAt,
      'longest request of others': load.of(second).longestWait(killedAt),
      'longest delivery of others': load.of(second).longestDelivery(killedAt),
    };
    print(`A worker node was killed, in ms: ${JSON.stringify(waits)}`);
    expect(load.of(second).client.retries).toEqual([]);
    expect(waits['promotion to first message']).toBeLessThan(BACK_WITHIN_MS);
    expect(waits['longest request of others']).toBeLessThan(OTHERS_WAIT_MS);
    expect(waits['longest delivery of others']).toBeLessThan(OTHERS_WAIT_MS);
  }, 180_000);

  it('are served again once their coordinator, which was killed, runs again', async () => {
    const refused = load.of(second).client.retries.length;
    await nodes.killCoordinator();
    await waitFor('a refusal', () => load.of(second).client.retries.length > refused);
    const restartedAt = Date.now();
    await nodes.restartCoordinator();
    await load.waitForMore(MESSAGES);
    const ms = load.of(second).firstAfter(restartedAt) - restartedAt;
    print(`The coordinator was killed. From its start to the first message: ${ms} ms`);
    expect(ms).toBeLessThan(BACK_WITHIN_MS);
  }, 180_000);

  it('take the rows of workspaces that move to another node', async () => {
    const { workspaceId } = load.of(second).conversations[0]!;
    const beganAt = Date.now();
    await nodes.move(workspaceId, first);
    const ms = Date.now() - beganAt;
    expect(await nodes.groupOfWorkspace(workspaceId)).toBe(first.id);
    await load.waitForMore(MESSAGES);
    const wait = load.of(second).longestWait(beganAt);
    print(`A shard was moved in ${ms} ms. Longest request of its node: ${wait} ms`);
    expect(wait).toBeLessThan(MOVE_WAITS_MS);
  }, 240_000);

  it('share their rows with a node that is added', async () => {
    const beganAt = Date.now();
    const added = await nodes.addWorker();
    await nodes.rebalance();
    const ms = Date.now() - beganAt;
    const [placed] = await nodes.query<{ count: number }>(
      'SELECT count(*)::integer FROM pg_dist_placement WHERE groupid = $1',
      [added.id],
    );
    expect(placed!.count).toBeGreaterThan(0);
    const [settings] = await nodes.queryWorker<{ set: boolean }>(
      added,
      `SELECT setconfig @> '{lock_timeout=2000}' AS set FROM pg_db_role_setting
       WHERE setrole = 'messaging_service'::regrole AND setdatabase > 0`,
    );
    expect(settings!.set).toBe(true);
    await load.waitForMore(MESSAGES);
    const wait = Math.max(...[first, second].map((group) => load.of(group).longestWait(beganAt)));
    print(`A node was added and got its share in ${ms} ms. Longest request: ${wait} ms`);
    expect(wait).toBeLessThan(MOVE_WAITS_MS);
  }, 240_000);

  it('have lost no message and stored none twice, and every webhook has arrived', async () => {
    await load.settle();
    expect(await load.listFaults()).toEqual([]);
  }, 120_000);
});
