import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client } from 'pg';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { STANDARD_HEADERS } from '../../src/http/connections/standard-headers';
import { Metrics } from '../../src/metrics/metrics';
import { errorBody } from '../support/errors';
import { RawConnection } from '../support/raw-connection';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { ORIGIN, TestWidget } from '../support/widget';

const LATE = 'The request took too long to arrive.';
const NOT_HTTP = 'The request is not HTTP as it is specified.';
const HEAD = 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\n';
const POST =
  'POST /api/v1/conversations/x/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

const standard = Object.fromEntries(
  Object.entries(STANDARD_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);

/** Returns the bytes of the heap that are in use, after a collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

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
    connection.send(request(`/docs/assets/${large}`).repeat(32));
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

  describe('with requests behind one that is not answered', () => {
    const MANY = 5_000;
    const blockers: Client[] = [];
    afterEach(() => Promise.all(blockers.splice(0).map((blocker) => blocker.end())));

    it('are closed, and take little memory, above 32 of them', async () => {
      const blocker = await lockTable();
      const before = { closed: await closedBy('pipelined'), heap: heapUsed() };
      const connection = await open();
      connection.send(request('/api/v1/conversations') + 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(MANY));
      await connection.closed;
      expect(await closedBy('pipelined')).toBe(before.closed + 1);
      expect(heapUsed() - before.heap).toBeLessThan(5 * 1024 * 1024);
      await blocker.query('ROLLBACK');
      expect((await tenant.client.get('/me')).status).toBe(200);
    });

    it('give way, the one that holds the most first, when the process holds too much', async () => {
      const blocker = await lockTable();
      const honest = await open();
      honest.send(request('/api/v1/conversations').repeat(3));
      // The limit of 1 MiB is that of 70 heads of 15 KB.
      const large = `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(15_000)}\r\n\r\n`;
      const hostile = await Promise.all(Array.from({ length: 4 }, () => open()));
      for (const connection of hostile) connection.send(request('/api/v1/conversations') + large.repeat(20));
      await waitFor('one to be closed', () => hostile.some(({ isClosed }) => isClosed));
      await blocker.query('ROLLBACK');
      await waitFor('the honest answers', () => honest.answers().length === 3);
      expect(honest.answers().map(({ status }) => status)).toEqual([200, 200, 200]);
      for (const connection of hostile) connection.destroy();
    });

    let widget: TestWidget;
    beforeAll(
      async () => (widget = await TestWidget.connect(service, (await createTenant(service)).workspace)),
    );

    it.each([
      ['at once', true],
      ['later', false],
    ])('are closed if the first opens a stream, which never ends: %s', async (_, isAtOnce) => {
      const before = await closedBy('pipelined');
      const { token } = await widget.visitor();
      const connection = await open();
      const stream =
        `GET ${widget.path}/events HTTP/1.1\r\nHost: x\r\nOrigin: ${ORIGIN}\r\n` +
        `Authorization: Bearer ${token}\r\n\r\n`;
      connection.send(isAtOnce ? stream + request() : stream);
      if (!isAtOnce) {
        await waitFor('the stream', () => connection.text.includes('event: ready'));
        connection.send(request().repeat(1_000));
      }
      await connection.closed;
      expect(await closedBy('pipelined')).toBe(before + 1);
    });

    it('are answered when they are 20 with bodies', async () => {
      const body = JSON.stringify({ body: 'Hello' });
      const path = `/api/v1/conversations/${tenant.conversation.id}/messages`;
      const message =
        `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization()}Content-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`;
      const connection = await open();
      connection.send(message.repeat(20));
      await waitFor('all answers', () => connection.answers().length === 20);
      expect(connection.answers().map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    });

    async function lockTable(): Promise<Client> {
      const blocker = new Client({ connectionString: service.stores.databaseAdminUrl });
      await blocker.connect();
      await blocker.query('BEGIN');
      blockers.push(blocker);
      await blocker.query('LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE');
      return blocker;
    }
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
    const limits = { HTTP_MAX_CONNECTIONS: String(CAP), HTTP_MAX_UNFINISHED_BYTES: String(1024 * 1024) };
    service = await TestService.create({ env: limits });
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

  it('closes those whose unread answers take the most memory, long before their time is over', async () => {
    const { conversation, client, key } = tenant;
    for (let n = 0; n < 50; n++)
      await client.post(`/conversations/${conversation.id}/messages`, { body: 'x'.repeat(4_096) });
    const page = `GET /api/v1/conversations/${conversation.id}/messages?limit=50 HTTP/1.1\r\nHost: x\r\nx-api-key: ${key.key}\r\n\r\n`;
    const idle = await openMany(5);
    for (const connection of idle) {
      connection.stopReading();
      // The answers exceed the buffers of the system.
      connection.send(page.repeat(32));
    }
    await waitFor('one to be closed', async () => {
      const { values } = await service.app.get(Metrics).httpConnectionsClosed.get();
      return values.some(({ labels }) => labels.reason === 'unread_answer');
    });
    expect((await client.get('/me')).status).toBe(200);
    for (const connection of idle) connection.destroy();
  });

  it('does not count streams of events', async () => {
    const widget = await TestWidget.connect(service, tenant.workspace);
    const visitors = await Promise.all(Array.from({ length: 4 }, () => widget.visitor()));
    const streams = [];
    for (let i = 0; i < CAP + 2; i++) {
      const stream = await visitors[i % 4]!.stream();
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
