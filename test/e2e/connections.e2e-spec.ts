import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from 'pg';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { STANDARD_HEADERS } from '../../src/http/standard-headers';
import { Metrics } from '../../src/metrics/metrics';
import { errorBody } from '../support/errors';
import { RawConnection } from '../support/raw-connection';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';

const LATE = 'The request took too long to arrive.';
const NOT_HTTP = 'The request is not HTTP as it is specified.';
const HEAD = 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\n';
const POST =
  'POST /api/v1/conversations/x/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

const standard = Object.fromEntries(
  Object.entries(STANDARD_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);

describe('connections', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create({
      env: {
        HTTP_HEAD_TIMEOUT_MS: '600',
        HTTP_BODY_TIMEOUT_MS: '1500',
        HTTP_IDLE_TIMEOUT_MS: '1000',
        HTTP_MAX_UNFINISHED_BYTES: String(1024 * 1024),
      },
    });
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  const open = (options?: { allowHalfOpen?: boolean }) => RawConnection.open(service.baseUrl, options);
  const authorization = () => `Authorization: Bearer ${tenant.key.key}\r\n`;
  const request = (path = '/api/v1/me') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization()}\r\n`;

  async function closedBy(reason: string): Promise<number> {
    const { values } = await service.app.get(Metrics).httpConnectionsClosed.get();
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  }

  async function expectRefused(
    connection: RawConnection,
    status: number,
    code: Parameters<typeof errorBody>[0],
    message: string,
  ): Promise<void> {
    await waitFor('the connection to be closed', () => connection.isClosed);
    const [answer, ...others] = connection.answers();
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ status, body: errorBody(code, message), headers: standard });
    expect(answer!.headers).toMatchObject({
      connection: 'close',
      'x-request-id': answer!.body.error.requestId,
      'content-type': 'application/json; charset=utf-8',
    });
  }

  describe('that send too slowly get 408 and are closed', () => {
    it.each([
      ['nothing', ''],
      ['half a head', HEAD],
      ['a request line without an end', 'GET /api/v1/'],
    ])('after %s', async (_, bytes) => {
      const before = await closedBy('head_timeout');
      const connection = await open();
      connection.send(bytes);
      await expectRefused(connection, 408, 'REQUEST_TIMEOUT', LATE);
      expect(await closedBy('head_timeout')).toBe(before + 1);
    });

    it('however slowly the head drips', async () => {
      const connection = await open();
      connection.send(`${HEAD}X-Slow: `);
      await connection.drip('x', 50);
      await expectRefused(connection, 408, 'REQUEST_TIMEOUT', LATE);
    });

    it.each([
      ['half a body', `${POST}Content-Length: 100\r\n\r\n{"body"`],
      ['a head that announces a body', `${POST}Content-Length: 100\r\n\r\n`],
      ['half a chunked body', `${POST}Transfer-Encoding: chunked\r\n\r\n5\r\n{"bod`],
    ])('after %s', async (_, bytes) => {
      const before = await closedBy('body_timeout');
      const connection = await open();
      connection.send(bytes);
      await expectRefused(connection, 408, 'REQUEST_TIMEOUT', LATE);
      expect(await closedBy('body_timeout')).toBe(before + 1);
    });

    it('however slowly the body drips', async () => {
      const connection = await open();
      connection.send(`${POST}Content-Length: 100000\r\n\r\n{"body":"`);
      await connection.drip('x', 50);
      await expectRefused(connection, 408, 'REQUEST_TIMEOUT', LATE);
    });

    it('also in the second request of a connection', async () => {
      const connection = await open();
      connection.send(request());
      await waitFor('the first answer', () => connection.answers().length === 1);
      connection.send(HEAD);
      await waitFor('the connection to be closed', () => connection.isClosed);
      expect(connection.answers().map(({ status }) => status)).toEqual([200, 408]);
    });

    it('even if the client never closes its side', async () => {
      const connection = await open({ allowHalfOpen: true });
      connection.send(HEAD);
      await waitFor('the answer', () => connection.answers().length === 1);
      // A server that only ended its own side would accept these bytes for ever.
      await connection.drip('x', 50);
      await connection.closed;
    });
  });

  it('are closed without an answer when they stay idle', async () => {
    const connection = await open();
    connection.send(request());
    expect(await connection.closed).toBeNull();
    expect(connection.answers().map(({ status }) => status)).toEqual([200]);
  });

  it('are closed when the request was answered before its body came', async () => {
    const connection = await open();
    connection.send('POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n');
    await waitFor('the connection to be closed', () => connection.isClosed);
    expect(connection.answers().map(({ status }) => status)).toEqual([404]);
  });

  describe('that do not speak HTTP', () => {
    it.each([
      ['garbage', 'HELO example.com\r\n\r\n'],
      ['a body that is not chunked as it says', `${POST}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
      ['two lengths', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`],
      ['a length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a header with a line feed alone', `GET / HTTP/1.1\nHost: x\n\n`],
    ])('get 400 and are closed, whatever follows: %s', async (_, bytes) => {
      const connection = await open({ allowHalfOpen: true });
      connection.send(bytes);
      connection.send(request());
      await waitFor('the answer', () => connection.answers().length > 0);
      await connection.drip('x', 50);
      await expectRefused(connection, 400, 'INVALID_BODY', NOT_HTTP);
    });

    it('get the answer to an earlier request first', async () => {
      const connection = await open();
      connection.send(`${request()}\x01garbage\r\n\r\n`);
      await waitFor('the connection to be closed', () => connection.isClosed);
      expect(connection.answers().map(({ status }) => status)).toEqual([200, 400]);
    });

    it('get 400 for half a request when they close their side', async () => {
      const connection = await open({ allowHalfOpen: true });
      connection.send(HEAD);
      connection.halfClose();
      await expectRefused(connection, 400, 'INVALID_BODY', NOT_HTTP);
    });

    it('are closed when they close their side before the answer', async () => {
      const connection = await open({ allowHalfOpen: true });
      connection.send(request());
      connection.halfClose();
      expect(await connection.closed).toBeNull();
    });
  });

  it('are closed when the client reads nothing', async () => {
    const connection = await open();
    connection.stopReading();
    // The answers exceed the buffers of the system.
    const files = resolve(__dirname, '../../dist/docs/assets');
    const large = readdirSync(files).find((name) => /^search-.*\.json$/.test(name))!;
    for (let i = 0; i < 90; i++) connection.send(request(`/docs/assets/${large}`));
    await waitFor('the connection to be closed', async () => (await closedBy('unread_answer')) > 0);
    connection.destroy();
  });

  describe('with large bodies', () => {
    it.each([
      ['announced', `Content-Length: ${256 * 1024 + 1}\r\n\r\n`],
      ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${(256 * 1024 + 1).toString(16)}\r\n`],
    ])('get 413 before all of it has come: %s', async (_, rest) => {
      const connection = await open();
      connection.send(`${POST}${rest}`);
      if (rest.startsWith('T')) connection.send('x'.repeat(256 * 1024 + 1));
      await expectRefused(connection, 413, 'PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB.');
    });

    it('give way, the longest unfinished first, when the process holds too much', async () => {
      const slow: RawConnection[] = [];
      for (let i = 0; i < 6; i++) {
        const connection = await open();
        connection.send(`${POST}Content-Length: 250000\r\n\r\n{"body":"${'x'.repeat(200_000)}`);
        slow.push(connection);
      }
      // The sixth body is above the cap of 1 MiB.
      await waitFor('a refusal', () => slow.some((connection) => connection.answers().length > 0));
      const [oldest] = slow;
      expect(oldest!.answers()[0]).toMatchObject({
        status: 503,
        headers: { 'retry-after': '2', connection: 'close' },
        body: errorBody('UNAVAILABLE', 'The process holds too many unfinished bodies. Retry shortly.'),
      });
      // A whole body passes at the same time.
      const { conversation } = tenant;
      const { status } = await tenant.client.post(`/conversations/${conversation.id}/messages`, {
        body: 'x'.repeat(4096),
      });
      expect(status).toBe(201);
      for (const connection of slow) connection.destroy();
      const unfinished = service.app.get(Metrics).httpUnfinishedBytes;
      await waitFor('nothing to be held', async () => (await unfinished.get()).values[0]!.value === 0);
    });
  });

  it('are worked on one request at a time, however many are pipelined', async () => {
    const blocker = new Client({ connectionString: service.stores.databaseAdminUrl });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE');
    const connection = await open();
    connection.send(request('/api/v1/conversations').repeat(20) + request());
    const waiting = async () => {
      const { rows } = await blocker.query<{ pid: number }>(
        `SELECT pid FROM pg_locks WHERE relation = 'conversations'::regclass AND NOT granted`,
      );
      return rows.length;
    };
    await waitFor('a request to wait for the table', waiting);
    // A request of a later connection has been answered since, so those of this one would wait too.
    const other = await open();
    other.send(request());
    await waitFor('the other answer', () => other.answers().length === 1);
    expect(await waiting()).toBe(1);
    await blocker.query('ROLLBACK');
    await blocker.end();

    await waitFor('all answers', () => connection.answers().length === 21);
    expect(connection.answers().map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 200));
    expect(connection.answers().at(-1)!.body).toHaveProperty('tenant');
  });

  it('do not end while the service works on a request, however long that takes', async () => {
    const { conversation, client } = tenant;
    const blocker = await lockRow(
      `SELECT FROM conversations WHERE tenant_id = '${tenant.workspace.id}' AND id = '${conversation.id}' FOR UPDATE`,
    );
    // The lock waits longer than any time-out of this test.
    const { status } = await client.post(`/conversations/${conversation.id}/messages`, { body: 'Hi' });
    expect(status).toBe(503);
    await blocker.end();
  });

  it('do not end while they carry a stream of events', async () => {
    const widget = await TestWidget.connect(service, tenant.workspace);
    const stream = await (await widget.visitor()).stream();
    await stream.next('ready');
    const later = await open();
    later.send(`${POST}Content-Length: 100\r\n\r\n`);
    await later.closed;
    await service.app.get(VisitorStreams, { strict: false }).sendHeartbeats();
    await stream.next('heartbeat');
    stream.close();
  });

  async function lockRow(statement: string): Promise<Client> {
    const client = new Client({ connectionString: service.stores.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return client;
  }
});

describe('the cap on connections', () => {
  const CAP = 10;
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create({ env: { HTTP_MAX_CONNECTIONS: String(CAP) } });
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  const openMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => RawConnection.open(service.baseUrl)));

  async function openNow(kind: 'request' | 'stream'): Promise<number> {
    const { values } = await service.app.get(Metrics).httpConnections.get();
    return values.find(({ labels }) => labels.kind === kind)!.value;
  }

  it('closes what waits for its client before it refuses anybody', async () => {
    const silent = await openMany(5 * CAP);
    expect(await openNow('request')).toBeLessThanOrEqual(CAP);
    const { status } = await tenant.client.get('/me');
    expect(status).toBe(200);
    await waitFor(
      'the others to be closed',
      () => silent.filter(({ isClosed }) => isClosed).length >= 4 * CAP,
    );
    for (const connection of silent) connection.destroy();
  });

  it('does not count streams of events', async () => {
    const widget = await TestWidget.connect(service, tenant.workspace);
    const visitors = await Promise.all(Array.from({ length: 2 }, () => widget.visitor()));
    const streams = [];
    for (let i = 0; i < CAP + 2; i++) {
      const stream = await visitors[i % 2]!.stream();
      await stream.next('ready');
      streams.push(stream);
    }
    expect(await openNow('stream')).toBe(CAP + 2);
    expect((await tenant.client.get('/me')).status).toBe(200);
    expect(streams.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    for (const stream of streams) stream.close();
    await waitFor('the streams to end', async () => (await openNow('stream')) === 0);
  });
});
