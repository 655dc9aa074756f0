import { isDatabaseAway } from '../../src/common/database-errors';
import { Database, Transaction } from '../../src/database/database';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

describe('A database that goes away', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });
  afterAll(() => service.close());

  const fault = (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
    service.app
      .get(Database)
      .transaction(work)
      .then(
        () => null,
        (error: unknown) => error,
      );

  async function pidOf(tx: Transaction): Promise<number> {
    const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return row!.pid;
  }

  async function cut(pid: number): Promise<void> {
    await service.query('SELECT pg_terminate_backend($1)', [pid]);
    await waitFor('the session to end', async () => {
      const sessions = await service.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
      return sessions.length === 0;
    });
  }

  it('is told from a fault of ours when the connection ends between two statements', async () => {
    const error = await fault(async (tx) => {
      await cut(await pidOf(tx));
      await tx.query('SELECT 1');
    });
    expect(isDatabaseAway(error)).toBe(true);
  });

  it('is told from a fault of ours when the connection ends under a statement', async () => {
    const error = await fault(async (tx) => {
      const pid = await pidOf(tx);
      await Promise.all([tx.query('SELECT pg_sleep(10)'), cut(pid)]);
    });
    expect(isDatabaseAway(error)).toBe(true);
  });

  it('is used again afterwards', async () => {
    expect(await fault((tx) => tx.query('SELECT 1'))).toBeNull();
  });

  it('is not what a wrong statement means', async () => {
    expect(isDatabaseAway(await fault((tx) => tx.query('SELECT wrong')))).toBe(false);
  });
});
