import { isDatabaseAway } from '../../src/database/driver/database-errors';
import { Database } from '../../src/database/database';
import { Transaction } from '../../src/database/transaction';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';

/** Time below the minute after which the pool closes an unused connection. */
const BEFORE_IT_IS_CLOSED_AS_IDLE_MS = 5_000;

describe('A database that goes away', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });
  afterAll(() => service.close());

  const fault = (work: (tx: Transaction) => Promise<unknown>) => faultOf(service, work);

  async function cut(pid: number): Promise<void> {
    await service.query('SELECT pg_terminate_backend($1)', [pid]);
    await waitFor('the session to end', async () => {
      const sessions = await service.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
      return sessions.length === 0;
    });
  }

  it('is recognised as away when the connection ends between two statements', async () => {
    const error = await fault(async (tx) => {
      await cut(await pidOf(tx));
      await tx.query('SELECT 1');
    });
    expect(isDatabaseAway(error)).toBe(true);
  });

  it('is recognised as away when the connection ends under a statement', async () => {
    const error = await fault(async (tx) => {
      const pid = await pidOf(tx);
      await Promise.all([tx.query('SELECT pg_sleep(10)'), cut(pid)]);
    });
    expect(isDatabaseAway(error)).toBe(true);
  });

  it('is used again afterwards', async () => {
    expect(await fault((tx) => tx.query('SELECT 1'))).toBeNull();
  });

  it('is not taken for away after a wrong statement', async () => {
    expect(isDatabaseAway(await fault((tx) => tx.query('SELECT wrong')))).toBe(false);
  });
});

describe('A database that falls silent', () => {
  let host: MessagingHost;
  let proxy: TcpProxy;
  let service: TestService;

  beforeAll(async () => {
    host = await MessagingHost.create();
    proxy = await TcpProxy.start(host.stores.databaseUrl);
    service = await TestService.create({
      role: 'all',
      beside: host,
      env: { DATABASE_URL: proxy.address, DATABASE_POOL_SIZE: '4' },
    });
  });
  afterAll(async () => {
    await service.close();
    await proxy.cut();
    await host.close();
  });

  it('is recognised as away, and its connection is not used again', async () => {
    let pid = 0;
    const error = await faultOf(service, async (tx) => {
      pid = await pidOf(tx);
      proxy.freeze();
      await tx.query('SELECT 1');
    });
    proxy.thaw();
    expect(isDatabaseAway(error)).toBe(true);
    const isClosed = async () => {
      const sessions = await host.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
      return sessions.length === 0;
    };
    await waitFor('the silent connection to be closed', isClosed, BEFORE_IT_IS_CLOSED_AS_IDLE_MS);
  });

  it('is not taken for away during a long statement where one is allowed', async () => {
    const error = await faultOf(service, async (tx) => {
      await tx.allowLongStatements();
      await tx.query('SELECT pg_sleep(6.5)');
    });
    expect(error).toBeNull();
  });

  it('makes requests answer 503 with Retry-After until the database answers again', async () => {
    const workspace = await host.make.workspace();
    const client = service.client.as(await host.make.apiKey(workspace));
    expect(await client.get('/me')).toMatchObject({ status: 200 });

    proxy.freeze();
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.get('/me')));
    for (const { status, body, headers } of answers) {
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'UNAVAILABLE' });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    proxy.thaw();

    await waitFor('an answer', async () => (await client.get('/me')).status === 200);
  });

  it('loses no delivery, whatever the worker was waiting for', async () => {
    const receiver = await Receiver.start();
    try {
      const { workspace, conversation, endpoint } = await subscribe(host, receiver);
      proxy.silence();
      await host.make.received(workspace, conversation);
      await waitForDeliveries(host, endpoint, 'SUCCEEDED', 1, 20_000);
    } finally {
      await receiver.stop();
    }
  });
});

function faultOf(service: TestService, work: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  return service.app
    .get(Database)
    .transaction(work)
    .then(
      () => null,
      (error: unknown) => error,
    );
}

async function pidOf(tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return row!.pid;
}
