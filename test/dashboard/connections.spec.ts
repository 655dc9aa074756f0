import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metrics } from '../../src/metrics/metrics';
import { errorBody } from '../support/errors';
import { RawConnection } from '../support/raw-connection';
import { TestDashboard } from '../support/test-dashboard';
import { createStores, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const CAP = 10;
const MEBIBYTE = 1024 * 1024;
const LATE = 'The request took too long to arrive.';
const headOf = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nSec-Fetch-Site: same-origin\r\n`;
const LOGIN = headOf('/api/login');
const KEYS = headOf('/api/workspaces/1/api-keys');
/** Largest body of each kind of route, in KiB. */
const BODIES = [
  [8, '/api/login'],
  [8, '/api/links/accept'],
  [8, '/api/account/password'],
  [8, '/health/ready'],
  [8, '/nowhere'],
  [256, '/api/workspaces/1/api-keys'],
] as const;

/**
 * Tests of the limits on connections to the dashboard, which uses the service's code for them. `test/http`
 * tests the details.
 */
describe('connections to the dashboard', () => {
  let stores: TestStores;
  let dashboard: TestDashboard;
  let pages: string;

  beforeAll(async () => {
    stores = await createStores();
    pages = mkdtempSync(join(tmpdir(), 'pages-'));
    writeFileSync(join(pages, 'index.html'), 'x'.repeat(MEBIBYTE));
    const env = {
      HTTP_MAX_CONNECTIONS: String(CAP),
      HTTP_HEAD_TIMEOUT_MS: '600',
      HTTP_BODY_TIMEOUT_MS: '1500',
      HTTP_MAX_UNFINISHED_BYTES: String(MEBIBYTE),
    };
    dashboard = await TestDashboard.create(stores, env, pages);
  });
  afterAll(() => rmSync(pages, { recursive: true }));

  const open = () => RawConnection.open(dashboard.baseUrl);
  const closedBy = async (reason: string) => {
    const { values } = await dashboard.get(Metrics).httpConnectionsClosed.get();
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  };

  it.each([
    ['half a head', 'GET /api/session HTTP/1.1\r\nHost: localhost\r\n'],
    ['half a body', `${LOGIN}Content-Length: 100\r\n\r\n{"email"`],
  ])('that send too slowly get 408 and are closed, after %s', async (_, bytes) => {
    const connection = await open();
    connection.send(bytes);
    await waitFor('the connection to be closed', () => connection.isClosed);
    expect(connection.answers()).toMatchObject([
      { status: 408, body: errorBody('REQUEST_TIMEOUT', LATE), headers: { connection: 'close' } },
    ]);
  });

  it('without a Host header get 400 in the form of every error', async () => {
    const connection = await open();
    connection.send('GET /api/session HTTP/1.1\r\n\r\n');
    await waitFor('the answer', () => connection.answers().length > 0);
    expect(connection.answers()).toMatchObject([
      { status: 400, body: errorBody('INVALID_BODY', 'The request has no Host header.') },
    ]);
    connection.destroy();
  });

  it.each(BODIES)('get 413 for a body above %d KiB before all of it has come: %s', async (size, path) => {
    const bytes = size * 1024 + 1;
    for (const isChunked of [false, true]) {
      const connection = await open();
      connection.send(
        headOf(path) +
          (isChunked
            ? `Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${'x'.repeat(bytes)}`
            : `Content-Length: ${bytes}\r\n\r\n`),
      );
      await waitFor('the connection to be closed', () => connection.isClosed);
      expect(connection.answers()).toMatchObject([
        {
          status: 413,
          body: errorBody('PAYLOAD_TOO_LARGE', `The body is larger than ${size} KiB.`),
          headers: { connection: 'close' },
        },
      ]);
    }
  });

  it('get 503, the longest unfinished first, when the process holds too many bytes of bodies', async () => {
    const slow: RawConnection[] = [];
    for (let n = 0; n < 6; n++) {
      const connection = await open();
      connection.send(`${KEYS}Content-Length: 250000\r\n\r\n{"email":"${'x'.repeat(200_000)}`);
      slow.push(connection);
    }
    await waitFor('a refusal', () => slow[0]!.answers().length > 0);
    const message = 'The process holds too many unfinished bodies. Retry shortly.';
    expect(slow[0]!.answers()).toMatchObject([{ status: 503, body: errorBody('UNAVAILABLE', message) }]);
    for (const connection of slow) connection.destroy();
  });

  it('give way, those that wait longest for their client first, when one client opens too many', async () => {
    const silent = await Promise.all(Array.from({ length: 5 * CAP }, open));
    const { status } = await dashboard.browser.get('/health/live');
    expect(status).toBe(200);
    await waitFor(
      'the others to be closed',
      () => silent.filter(({ isClosed }) => isClosed).length >= 4 * CAP,
    );
    expect(await closedBy('evicted')).toBeGreaterThan(0);
    for (const connection of silent) connection.destroy();
  });

  it('are closed when the client leaves an answer unread', async () => {
    const connection = await open();
    connection.stopReading();
    // The answers exceed the buffers of the system.
    connection.send('GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20));
    await waitFor('the connection to be closed', async () => (await closedBy('unread_answer')) > 0);
    connection.destroy();
  });
});
