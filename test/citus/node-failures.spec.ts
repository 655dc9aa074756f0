import { print } from '../support/report';
import { CitusNodes, Group } from './citus-nodes';
import { LoadByNode } from './load-by-node';

/** Messages of each node before a failure, while it lasts, and after it. */
const MESSAGES = 20;
/** Time in which workspaces on other nodes get their answers and their webhooks while a node is away. */
const OTHERS_WAIT_MS = 2_000;

describe('a worker node that is killed under load', () => {
  let nodes: CitusNodes;
  let load: LoadByNode;
  let killed: Group;
  let other: Group;

  beforeAll(async () => {
    nodes = await CitusNodes.start({ standbys: true });
    [killed, other] = (await nodes.groups()) as [Group, Group];
    load = await LoadByNode.start(nodes);
    await load.goOn(MESSAGES);
  }, 120_000);
  afterAll(async () => {
    await load?.stop();
    await nodes?.stop();
  });

  it('holds up its own workspaces alone, and has a successor with all of their messages', async () => {
    const killedAt = Date.now();
    await nodes.killWorker(killed);
    await load.of(other).goOn(MESSAGES);
    expect(load.of(killed).client.retries.length).toBeGreaterThan(0);
    const promotedAt = Date.now();
    await nodes.promoteStandby(killed);
    await load.goOn(MESSAGES);
    await nodes.untilSynced();
    await load.settle();

    const waits = {
      'promotion to first message': load.of(killed).firstAfter(promotedAt) - promotedAt,
      'longest request of others': load.of(other).longestWait(killedAt),
      'longest delivery of others': load.of(other).longestDelivery(killedAt),
    };
    print(`A worker node was killed, in ms: ${JSON.stringify(waits)}`);
    expect(await load.listFaults()).toEqual([]);
    expect(load.of(other).client.retries).toEqual([]);
    expect(waits['longest request of others']).toBeLessThan(OTHERS_WAIT_MS);
    expect(waits['longest delivery of others']).toBeLessThan(OTHERS_WAIT_MS);
  }, 240_000);
});
