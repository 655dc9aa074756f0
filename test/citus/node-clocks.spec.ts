import { Database } from '../../src/database/database';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { CitusNodes, Group } from './citus-nodes';
import { LoadByNode } from './load-by-node';

const MESSAGES = 20;
const OFFSET_MS = 2_000;
/** Time in which webhooks arrive, whatever the clock of the node says. */
const DELIVERED_WITHIN_MS = 5_000;
/** Time in which a process compares the clocks again, and a little more. */
const NOTICED_WITHIN_MS = 30_000;

describe('a node whose clock is 2 s ahead', () => {
  let nodes: CitusNodes;
  let ahead: Group;
  let service: TestService;
  let load: LoadByNode;

  beforeAll(async () => {
    nodes = await CitusNodes.start();
    [ahead] = (await nodes.groups()) as [Group];
    await nodes.shiftClock(ahead, OFFSET_MS);
    service = await TestService.create({ beside: { stores: nodes.stores } });
    load = await LoadByNode.start(nodes);
  }, 240_000);
  afterAll(async () => {
    await load?.stop();
    await service?.close();
    await nodes?.stop();
  });

  const readiness = async () => (await service.client.send({ method: 'GET', path: '/health/ready' })).body;

  it('has that clock', async () => {
    const [node] = await nodes.queryWorker<{ at: Date }>(ahead, 'SELECT clock_timestamp() AS at');
    expect(node!.at.getTime() - Date.now()).toBeGreaterThan(OFFSET_MS / 2);
  });

  it('is told of by readiness, with which the process serves on', async () => {
    await waitFor('the report', async () => (await readiness()).nodeClocks === 'wrong', NOTICED_WITHIN_MS);
    expect(await readiness()).toMatchObject({ status: 'up', clock: 'synchronized' });
  }, 60_000);

  it('searches for what is due by the clock of the coordinator', async () => {
    const database = service.app.get(Database);
    for (const server of await database.placement.listServers()) {
      const rows = await server.search<{ now: Date }>(
        'SELECT now() AS now FROM (SELECT count(*) FROM event_queue) AS queue',
        [],
        { order: () => [], times: ['now'] },
      );
      const [coordinator] = await nodes.query<{ at: Date }>('SELECT clock_timestamp() AS at');
      for (const { now } of rows) expect(now.getTime()).toBeLessThanOrEqual(coordinator!.at.getTime());
    }
  });

  it('takes messages and delivers them as the others do', async () => {
    const beganAt = Date.now();
    await load.waitForMore(MESSAGES);
    expect(load.of(ahead).longestDelivery(beganAt)).toBeLessThan(DELIVERED_WITHIN_MS);
    await load.settle();
    expect(await load.listFaults()).toEqual([]);
  }, 120_000);

  it('is told of no more once its clock is right', async () => {
    await nodes.shiftClock(ahead, 0);
    await waitFor(
      'the end of the report',
      async () => (await readiness()).nodeClocks === 'synchronized',
      NOTICED_WITHIN_MS,
    );
  }, 60_000);
});
