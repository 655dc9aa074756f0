import { Database } from '../../src/database/database';
import { Pooler } from '../support/pooler';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { createStores, TestStores } from '../support/test-database';
import { WebhookWorkspace } from '../support/webhook-workspace';

const SERVER_CONNECTIONS = 10;
const WORKSPACES = 4;
const MESSAGES = 10;

describe('a coordinator behind PgBouncer in transaction mode', () => {
  let given: TestStores;
  let pooler: Pooler;
  let service: TestService;
  let receiver: Receiver;

  beforeAll(async () => {
    given = await createStores();
    pooler = await Pooler.start(given, SERVER_CONNECTIONS);
    receiver = await Receiver.start();
    service = await TestService.create({ role: 'all', beside: { stores: pooler.stores }, env: pooler.env });
  }, 60_000);

  it('is ready', async () => {
    const { status, body } = await service.client.send({ method: 'GET', path: '/health/ready' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ migrations: 'applied', privileges: 'granted', settings: 'set' }),
    ]);
  });

  it('takes messages of workspaces on all nodes, lists them, and delivers their webhooks', async () => {
    const all: string[] = [];
    for (let n = 0; n < WORKSPACES; n += 1) {
      const workspace = await WebhookWorkspace.create(service);
      await service.make.agent(workspace);
      await workspace.addEndpoint(receiver.url());
      const client = service.client.as(await service.make.apiKey(workspace));
      const path = `/conversations/${workspace.conversation.id}/messages`;
      const ids = await Promise.all(
        Array.from({ length: MESSAGES }, async (_, index) => {
          const { status, body } = await client.post(path, { body: `Message ${index}` });
          expect(status).toBe(201);
          return body.message.id as string;
        }),
      );
      const { body } = await client.get(path);
      expect((body.data as { id: string }[]).map(({ id }) => id).sort()).toEqual(ids.sort());
      all.push(...ids);
    }
    const webhooks = await receiver.waitForCount(all.length);
    expect(new Set(webhooks.map(({ envelope }) => envelope.data.message.id as string))).toEqual(new Set(all));
    const { servers } = await pooler.state();
    expect(servers).toBeLessThanOrEqual(SERVER_CONNECTIONS);
  });

  it('plans for a queue in one transaction, and in none after it', async () => {
    const database = service.app.get(Database);
    const read = `SELECT current_setting('enable_seqscan') AS seqscan`;
    expect(await database.queueTransaction((tx) => tx.query(read))).toEqual([{ seqscan: 'off' }]);
    const others = await Promise.all(
      Array.from({ length: 2 * SERVER_CONNECTIONS }, () => database.query(read)),
    );
    expect(new Set(others.map((rows) => JSON.stringify(rows)))).toEqual(new Set(['[{"seqscan":"on"}]']));
  });
});
