import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { OldestSnapshot } from '../../src/database/oldest-snapshot';
import { SettledTime } from '../../src/message-search/settled-time';
import { QueueFloorsRepository } from '../../src/queue/floors/queue-floors.repository';
import { MessagingHost } from '../support/messaging-host';
import { nodeUrlsOf } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';

/** Time after which ids count as settled while nothing runs, and some more. */
const LONGER_THAN_CLOCKS_MS = 3_000;

/** Tests of reads of PostgreSQL's own views, which tell on each server what happens there. */
describe('what the nodes alone know', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  it.each([
    ['locked', 'SELECT FROM conversations WHERE tenant_id = $1 FOR NO KEY UPDATE'],
    ['written', 'UPDATE contacts SET name = name WHERE tenant_id = $1'],
  ])('holds back the time up to which all is committed: a transaction that has %s a row', async (_, sql) => {
    const database = host.get(Database);
    const settled = new SettledTime(database);
    const { id: workspaceId } = await host.make.workspace();
    const messageId = await database.transaction(async (tx) => {
      await tx.prepared(sql, [workspaceId]);
      const id = newId();
      await letTimePass(LONGER_THAN_CLOCKS_MS);
      await settled.sample();
      expect([settled.settledId, id].sort()).toEqual([settled.settledId, id]);
      return id;
    });
    await waitFor('the message to be settled', async () => {
      await settled.sample();
      return settled.settledId! > messageId;
    });
  });

  it('does not hold that time back: a transaction that only reads', async () => {
    const database = host.get(Database);
    const settled = new SettledTime(database);
    const { id: workspaceId } = await host.make.workspace();
    await database.transaction(async (tx) => {
      await tx.prepared('SELECT FROM conversations WHERE tenant_id = $1', [workspaceId]);
      const id = newId();
      await letTimePass(LONGER_THAN_CLOCKS_MS);
      await settled.sample();
      expect([id, settled.settledId].sort()).toEqual([id, settled.settledId]);
    });
  });

  it('is an old snapshot on one of them', async () => {
    const snapshots = host.get(OldestSnapshot);
    const [holder, other] = [0, 1].map(() => new Client({ connectionString: nodeUrlsOf(host.stores)[1] }));
    await Promise.all([holder!.connect(), other!.connect()]);
    try {
      await holder!.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await holder!.query('SELECT 1');
      for (let n = 0; n < 20; n += 1) await other!.query('SELECT pg_current_xact_id()');
      expect((await snapshots.read()).transactions).toBeGreaterThanOrEqual(20);
      await holder!.query('COMMIT');
      await waitFor('the snapshot to end', async () => (await snapshots.read()).transactions < 20);
    } finally {
      await Promise.all([holder!.end(), other!.end()]);
    }
  });

  it('is the number of dead rows in a queue', async () => {
    const floors = new QueueFloorsRepository(host.get(Database));
    const { id } = await host.make.workspace();
    await host.query(
      'INSERT INTO event_queue (tenant_id, event_id) SELECT $1, gen_random_uuid() FROM generate_series(1, 50)',
      [id],
    );
    await host.query('DELETE FROM event_queue WHERE tenant_id = $1', [id]);
    await waitFor('the dead rows', async () => (await floors.countDead()) >= 50);
  });
});
