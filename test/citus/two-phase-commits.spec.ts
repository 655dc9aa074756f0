import { CreatedApiKey } from '../../src/auth/api-key.dto';
import { isDatabaseAway } from '../../src/database/driver/database-errors';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { CitusNodes, Group } from './citus-nodes';
import { StatementProxy } from './statement-proxy';

/** Time in which Citus finishes what a lost node or coordinator has left, by its setting for these nodes. */
const FINISHED_WITHIN_MS = 30_000;

/** A new API key is a row on the node of its workspace, and a look-up of its hash on the coordinator. */
describe('a row and its look-up', () => {
  let nodes: CitusNodes;
  let service: TestService;
  let workspace: WorkspaceEntity;
  let group: Group;
  let proxy: StatementProxy;

  beforeAll(async () => {
    nodes = await CitusNodes.start();
    service = await TestService.create({ beside: { stores: nodes.stores } });
    workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const id = await nodes.groupOfWorkspace(workspace.id);
    group = (await nodes.groups()).find((one) => one.id === id)!;
    proxy = await StatementProxy.start(nodes.urlOf(group));
    await nodes.leadTo(group, proxy.url);
    await nodes.untilSynced();
  }, 180_000);
  afterAll(async () => {
    await service?.close();
    await proxy?.stop();
    await nodes?.stop();
  });

  const idsIn = async (table: string) =>
    (
      await nodes.query<{ id: string }>(`SELECT id FROM ${table} WHERE tenant_id = $1 ORDER BY id`, [
        workspace.id,
      ])
    ).map(({ id }) => id);

  /** Makes a key at which the proxy strikes; null when the caller was told to try again. */
  async function makeKey(): Promise<CreatedApiKey | null> {
    const key = await service.make.apiKey(workspace).catch((error: unknown) => {
      if (!isDatabaseAway(error)) throw error;
      return null;
    });
    expect(proxy.hasStruck).toBe(true);
    return key;
  }

  /** Waits until nothing is prepared on the node, and returns the numbers of the rows and of the look-ups. */
  async function settled(): Promise<{ rows: number; lookUps: number }> {
    await waitFor(
      'the end of prepared transactions',
      async () => (await nodes.queryWorker(group, 'SELECT FROM pg_prepared_xacts')).length === 0,
      FINISHED_WITHIN_MS,
    );
    const [rows, lookUps] = [await idsIn('api_keys'), await idsIn('api_key_hashes')];
    expect(rows).toEqual(lookUps);
    return { rows: rows.length, lookUps: lookUps.length };
  }

  it('are both missing when the node is lost before it has prepared, or before it could say so', async () => {
    const before = await settled();
    for (const when of ['unsent', 'answered'] as const) {
      proxy.strikeAt('PREPARE TRANSACTION', when);
      expect(await makeKey()).toBeNull();
      expect(await settled()).toEqual(before);
    }
  }, 120_000);

  it('are both there when the node is lost before it commits, and the key works', async () => {
    const { rows } = await settled();
    for (const [n, when] of (['unsent', 'answered'] as const).entries()) {
      proxy.strikeAt('COMMIT PREPARED', when);
      const key = await makeKey();
      expect((await settled()).rows).toBe(rows + n + 1);
      expect((await service.client.as(key!).get('/me')).status).toBe(200);
    }
  }, 120_000);

  it('are both missing when the coordinator dies before it commits, and both there when it dies after', async () => {
    const { rows } = await settled();
    for (const [statement, when, kept] of [
      ['PREPARE TRANSACTION', 'answered', 0],
      ['COMMIT PREPARED', 'unsent', 1],
    ] as const) {
      let killed: Promise<void> | undefined;
      proxy.strikeAt(statement, when, () => (killed = nodes.killCoordinator()));
      expect(await makeKey()).toBeNull();
      await killed;
      await nodes.restartCoordinator();
      expect((await settled()).rows).toBe(rows + kept);
    }
  }, 180_000);
});
