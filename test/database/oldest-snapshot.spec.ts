import { Client } from 'pg';
import { OldestSnapshot } from '../../src/database/oldest-snapshot';
import { MessagingHost } from '../support/messaging-host';
import { waitFor } from '../support/wait';

describe('the oldest snapshot', () => {
  let host: MessagingHost;
  let snapshots: OldestSnapshot;
  let admin: Client;

  beforeAll(async () => {
    host = await MessagingHost.create();
    snapshots = host.get(OldestSnapshot);
    admin = new Client({ connectionString: host.stores.databaseAdminUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
  });

  /** Begins transactions, which age a snapshot. */
  async function beginTransactions(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await host.query('SELECT pg_current_xact_id()');
  }

  it('ages while an idle transaction of another role holds it, in transactions and in time', async () => {
    await snapshots.read();
    await admin.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await admin.query('SELECT 1');
    await beginTransactions(20);
    const first = await snapshots.read();
    expect(first.transactions).toBeGreaterThanOrEqual(20);
    await waitFor('the snapshot to age', async () => {
      const { seconds } = await snapshots.read();
      return seconds >= first.seconds + 0.5;
    });
    await admin.query('COMMIT');
    await waitFor('the snapshot to end', async () => (await snapshots.read()).transactions < 20);
  });

  it('is also that of a transaction that has written', async () => {
    await admin.query('BEGIN');
    await admin.query('SELECT pg_current_xact_id()');
    await beginTransactions(20);
    expect((await snapshots.read()).transactions).toBeGreaterThanOrEqual(20);
    await admin.query('ROLLBACK');
  });
});
