import { once } from 'node:events';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { DatabasePool } from '../../src/database/driver/database-pool';
import { STANDARD_HEADERS } from '../../src/http/connections/standard-headers';
import { errorBody } from '../support/errors';
import { failConnections } from '../support/failing-sockets';
import { PostgresProxy } from '../support/postgres-proxy';
import { callIn, CONTRACT_ROUTES, createTenant, nameOf, Route, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TcpProxy } from '../support/tcp-proxy';
import { createStores, dropStores, isOnCitus, TestStores } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';

const INTERNAL = 'Something went wrong on our side. Quote the requestId to support.';
const BUSY = 'The service is busy. Retry shortly.';
const standard = Object.fromEntries(
  Object.entries(STANDARD_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('errors', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create();
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  describe('a path that does not exist', () => {
    it.each([
      ['GET', '/api/v1/nothing'],
      ['GET', '/api/v1'],
      ['GET', '/api/v1/keys'],
      ['GET', '/api/v2/me'],
      ['GET', '/conversations'],
      ['POST', '/api/v1/me'],
      ['PUT', '/api/v1/conversations'],
      ['DELETE', `/api/v1/conversations/${newId()}`],
      ['PUT', `/api/v1/conversations/${newId()}`],
      ['PATCH', '/api/v1/contacts'],
      ['DELETE', `/api/v1/contacts/${newId()}`],
      ['GET', '/api/v1/conversations//messages'],
    ] as const)('answers 404 to %s %s, with and without a key', async (method, path) => {
      for (const client of [service.client, tenant.client]) {
        const { status, body, headers } = await client.send({ method, path });
        expect(status).toBe(404);
        expect(body).toEqual(errorBody('NOT_FOUND', 'No such path.'));
        expect(headers['content-type']).toBe('application/json; charset=utf-8');
      }
    });
  });

  describe('X-Request-Id', () => {
    const idOf = async (headers: Record<string, string>, path = '/me') =>
      (await tenant.client.get(path, headers)).headers['x-request-id'];

    it('is made for every request', async () => {
      const ids = [await idOf({}), await idOf({})];
      for (const id of ids) expect(id).toMatch(UUID);
      expect(new Set(ids).size).toBe(2);
    });

    it.each(['sync-42', 'a', 'A.b_c:d-e', 'x'.repeat(128)])("is the caller's own: %s", async (id) => {
      expect(await idOf({ 'x-request-id': id })).toBe(id);
    });

    it.each(['', 'x'.repeat(129), 'two words', '<script>', 'caf\u00e9', 'a,b'])(
      'is made where the one sent is not well formed: "%s"',
      async (id) => {
        expect(await idOf({ 'x-request-id': id })).toMatch(UUID);
      },
    );

    it('is on errors too, in header and body', async () => {
      const answer = await service.client.get('/me', { 'x-request-id': 'refused-1' });
      expect(answer.status).toBe(401);
      expect(answer.headers['x-request-id']).toBe('refused-1');
      expect(answer.body.error.requestId).toBe('refused-1');
      expect(await idOf({ 'x-request-id': 'nowhere-1' }, '/nothing')).toBe('nowhere-1');
    });
  });

  describe('what is no request of HTTP as it is specified', () => {
    /** Sends these bytes unchanged, and returns the answer. */
    async function answerTo(bytes: string) {
      const socket = createConnection(Number(new URL(service.baseUrl).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(bytes);
      const [head, body] = (await text(socket)).split('\r\n\r\n') as [string, string];
      const [statusLine, ...headers] = head.split('\r\n');
      return { status: Number(statusLine!.split(' ')[1]), headers: headers.map(lowerName), body };
    }
    const lowerName = (header: string) => header.replace(/^[^:]+/, (name) => name.toLowerCase());

    it.each([
      [
        'has no Host header',
        'GET /api/v1/me HTTP/1.1',
        400,
        'INVALID_BODY',
        'The request has no Host header.',
      ],
      ['is not HTTP', 'HELO example.com', 400, 'INVALID_BODY', 'The request is not HTTP as it is specified.'],
      [
        'has too large headers',
        `GET / HTTP/1.1\r\nX-Large: ${'x'.repeat(20_000)}`,
        413,
        'PAYLOAD_TOO_LARGE',
        'The headers are too large.',
      ],
    ] as const)(
      'is answered in the form of every error where it %s',
      async (_, bytes, status, code, message) => {
        const answer = await answerTo(`${bytes}\r\nConnection: close\r\n\r\n`);
        expect(answer.status).toBe(status);
        const body = JSON.parse(answer.body);
        expect(body).toEqual(errorBody(code, message));
        expect(answer.headers).toEqual(
          expect.arrayContaining([
            'content-type: application/json; charset=utf-8',
            `x-request-id: ${body.error.requestId}`,
          ]),
        );
      },
    );

    it('does not ask for a Host header of HTTP/1.0, which has none', async () => {
      expect((await answerTo('GET /health/live HTTP/1.0\r\n\r\n')).status).toBe(200);
    });
  });

  it('carry what keeps caches and browsers from misusing them, as every answer does', async () => {
    const paths = ['/api/v1/me', '/api/v1/nothing', '/api/v1/openapi.json', '/health/live', '/docs/none'];
    for (const path of paths) {
      const { headers } = await fetch(service.baseUrl + path);
      expect([path, Object.fromEntries(headers)]).toEqual([path, expect.objectContaining(standard)]);
    }
    const { headers } = await tenant.client.get('/me');
    expect(headers).toMatchObject(standard);
  });

  it('says nothing of what the service is made of', async () => {
    for (const path of ['/me', '/nothing']) {
      const { headers } = await tenant.client.get(path);
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-powered-by']));
      expect(headers).not.toHaveProperty('server');
    }
  });

  describe('a fault of our own', () => {
    let broken: TestService;

    beforeAll(async () => {
      broken = await TestService.create();
    });
    afterAll(() => broken.close());

    it('answers 500 without the cause', async () => {
      const { client } = await createTenant(broken);
      await broken.query('ALTER TABLE contacts RENAME COLUMN avatar_url TO secret_column');
      const { status, body } = await client.get('/contacts');
      expect(status).toBe(500);
      expect(body).toEqual(errorBody('INTERNAL', INTERNAL));
      expect((await client.get('/me')).status).toBe(200);
    });
  });

  describe('a row that is locked for too long', () => {
    it('answers 503 with Retry-After, and the same request passes later', async () => {
      const { client, conversation } = tenant;
      const blocker = new Client({ connectionString: service.stores.databaseUrl });
      await blocker.connect();
      try {
        await blocker.query('BEGIN');
        await blocker.query('SELECT 1 FROM conversations WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
          tenant.workspace.id,
          conversation.id,
        ]);
        const { status, body, headers } = await client.post(`/conversations/${conversation.id}/messages`, {
          body: 'Hi',
        });
        expect(status).toBe(503);
        expect(body).toEqual(errorBody('UNAVAILABLE', BUSY));
        expect(headers['retry-after']).toBe('2');
        await blocker.query('ROLLBACK');
      } finally {
        await blocker.end();
      }
      const again = await client.post(`/conversations/${conversation.id}/messages`, { body: 'Hi' });
      expect(again.status).toBe(201);
      const { body } = await client.get(`/conversations/${conversation.id}/messages`);
      expect(body.data).toHaveLength(1);
    });
  });

  describe('while the database is away', () => {
    let stores: TestStores;
    let proxy: TcpProxy;
    let cutOff: TestService;
    let there: Tenant;

    beforeAll(async () => {
      stores = await createStores();
      proxy = await TcpProxy.start(stores.databaseUrl);
      cutOff = await TestService.create({ env: { DATABASE_URL: proxy.address } });
      there = await createTenant(cutOff);
      await proxy.cut();
    });
    afterAll(async () => {
      await cutOff.close();
      await proxy.cut();
      await dropStores(stores);
    });

    it.each(CONTRACT_ROUTES.map((route): [string, Route] => [nameOf(route), route]))(
      '%s answers 503 with Retry-After',
      async (_, route) => {
        const { status, body, headers } = await callIn(there, route);
        expect(status).toBe(503);
        expect(body).toEqual(errorBody('UNAVAILABLE', BUSY));
        expect(headers['retry-after']).toBe('2');
      },
    );

    it('still refuses what needs no database', async () => {
      expect((await cutOff.client.get('/me')).status).toBe(401);
      expect((await cutOff.client.as({ key: 'plk_malformed' }).get('/me')).status).toBe(401);
      expect((await cutOff.client.get('/nothing')).status).toBe(404);
    });

    it('is alive, but not ready', async () => {
      const live = await cutOff.client.send({ method: 'GET', path: '/health/live' });
      expect([live.status, live.body]).toEqual([200, { status: 'up' }]);
      const ready = await cutOff.client.send({ method: 'GET', path: '/health/ready' });
      expect(ready.status).toBe(503);
      expect(ready.body).toEqual(
        errorBody('UNAVAILABLE', 'The process is not ready.', [{ field: 'database', message: 'is down' }]),
      );
    });

    it('answers again as soon as it is back', async () => {
      await proxy.restore();
      const answer = await waitFor('the database', async () => {
        const response = await there.client.get('/me');
        return response.status !== 503 && response;
      });
      expect(answer.status).toBe(200);
      const ready = await waitFor('readiness', async () => {
        const response = await cutOff.client.send({ method: 'GET', path: '/health/ready' });
        return response.status === 200 && response;
      });
      expect(ready.body).toEqual({
        status: 'up',
        database: 'up',
        migrations: 'applied',
        privileges: 'granted',
        settings: 'set',
        clock: 'synchronized',
        ...(isOnCitus() && { nodeClocks: 'synchronized' }),
        redis: 'up',
      });
    });
  });

  describe('while the database fails', () => {
    let stores: TestStores;
    let proxy: PostgresProxy;
    let failing: TestService;
    let there: Tenant;
    let pool: DatabasePool;

    beforeAll(async () => {
      stores = await createStores();
      proxy = await PostgresProxy.start(stores.databaseUrl);
      failing = await TestService.create({ beside: { stores }, env: { DATABASE_URL: proxy.address } });
      pool = failing.app.get(Database).pool;
      there = await createTenant(failing);
    });
    afterEach(() => proxy.mend());
    afterAll(async () => {
      await failing.close();
      await proxy.stop();
      await dropStores(stores);
    });

    async function expectUnavailable(): Promise<void> {
      for (const route of CONTRACT_ROUTES) {
        const { status, body, headers } = await callIn(there, route);
        expect([nameOf(route), status, body]).toEqual([nameOf(route), 503, errorBody('UNAVAILABLE', BUSY)]);
        expect(headers['retry-after']).toBe('2');
      }
    }
    const ready = async () => {
      const { status, body } = await failing.client.send({ method: 'GET', path: '/health/ready' });
      return status === 200 ? 'ready' : body.error.details;
    };
    /** A result is kept for a second. */
    const nextProbe = () => letTimePass(1_000);
    const becomes = (expected: object | 'ready') =>
      waitFor(`readiness: ${JSON.stringify(expected)}`, async () =>
        isDeepStrictEqual(await ready(), expected),
      );
    const faults = {
      login: [{ field: 'database', message: 'refuses the role or its password' }],
      missing: [{ field: 'database', message: 'does not exist' }],
      privilege: [{ field: 'database', message: 'refuses the role a privilege' }],
      certificate: [{ field: 'database', message: 'has a certificate that is not valid' }],
      down: [{ field: 'database', message: 'is down' }],
    };

    it.each([
      ['EMFILE', faults.down],
      ['ENFILE', faults.down],
      ['ENETUNREACH', faults.down],
      ['ENETDOWN', faults.down],
      ['EADDRNOTAVAIL', faults.down],
      ['ECONNABORTED', faults.down],
      ['EAI_AGAIN', faults.down],
      ['CERT_HAS_EXPIRED', faults.certificate],
      ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', faults.certificate],
      ['ERR_TLS_CERT_ALTNAME_INVALID', faults.certificate],
    ])('a connection with %s: 503 with Retry-After, and readiness says why', async (code, details) => {
      const connections = failConnections(pool, code);
      await expectUnavailable();
      await becomes(details);
      connections.mend();
      await becomes('ready');
      expect((await there.client.get('/me')).status).toBe(200);
    });

    it.each([
      ['28P01', faults.login],
      ['28000', faults.login],
      ['3D000', faults.missing],
      ['42501', faults.privilege],
      ['53300', faults.down],
      ['57P03', faults.down],
    ])('a login answered with %s: 503 with Retry-After, and readiness says why', async (code, details) => {
      proxy.refuseConnections(code);
      await expectUnavailable();
      await becomes(details);
      proxy.mend();
      await becomes('ready');
      expect((await there.client.get('/me')).status).toBe(200);
    });

    it.each(['28P01', '28000', '3D000', '42501', '53300', '57P03'])(
      'a statement answered with %s: 503 with Retry-After',
      async (code) => {
        proxy.failStatements(code);
        await expectUnavailable();
        proxy.mend();
        expect((await there.client.get('/me')).status).toBe(200);
      },
    );

    it('says that connections are refused also while older ones work', async () => {
      await Promise.all(Array.from({ length: 4 }, () => there.client.get('/conversations')));
      proxy.refuseConnections('28P01', { keepsOpen: true });
      // More than the open connections serve at once.
      const answers = await Promise.all(Array.from({ length: 10 }, () => there.client.get('/conversations')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
      await becomes(faults.login);
      await nextProbe();
      await becomes(faults.login);
      proxy.mend();
      await becomes('ready');
    });

    it('says that a privilege was revoked, until it is granted again', async () => {
      await becomes('ready');
      await failing.query('REVOKE INSERT ON messages FROM messaging_service');
      await nextProbe();
      await becomes('ready');
      const { conversation, client } = there;
      const post = () => client.post(`/conversations/${conversation.id}/messages`, { body: 'Hi' });
      expect((await post()).status).toBe(503);
      const details = [{ field: 'privileges', message: "of the service's database role are missing" }];
      await becomes(details);
      await nextProbe();
      await becomes(details);
      await failing.query('GRANT INSERT ON messages TO messaging_service');
      await becomes('ready');
      expect((await post()).status).toBe(201);
    });
  });
});
