import { decodeProtectedHeader, SignJWT } from 'jose';
import { Client } from 'pg';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { PreviewTokens } from '../../src/channels/connections/preview-tokens';
import { VisitorTokens } from '../../src/channels/widget/visitor-tokens';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { countedInRedis } from '../support/counted-in-redis';
import { errorBody } from '../support/errors';
import { countLockWaits } from '../support/lock-waits';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { tracesInRedis } from '../support/traces';
import { waitFor } from '../support/wait';
import { ORIGIN, TestVisitor, TestWidget } from '../support/widget';
import { BAD_TOKEN, NO_WIDGET, VISITOR_CALLS, WidgetCrowd } from '../support/widget-crowd';

const VARY = 'Authorization, X-Api-Key, Origin';
const NO_TOKEN = 'Send a token of a session as "Authorization: Bearer …".';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

describe("access to the widget's routes", () => {
  let crowd: WidgetCrowd;
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;

  beforeAll(async () => {
    crowd = await WidgetCrowd.create();
    ({ service, tenant, widget } = crowd);
  });

  describe.each(VISITOR_CALLS)('%s', (_, call) => {
    it('is refused without a token', async () => {
      const { status, body } = await call(crowd.page(widget));
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', NO_TOKEN));
    });

    it('is refused with a forged token', async () => {
      const { token } = await crowd.visitor(widget);
      const [head, payload, signature] = token!.split('.') as [string, string, string];
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
      const forged = (changes: object) =>
        Buffer.from(JSON.stringify({ ...claims, ...changes })).toString('base64url');
      const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
      const bySecret = new SignJWT(claims).setProtectedHeader(
        decodeProtectedHeader(token!) as { alg: string },
      );
      const otherKey = Buffer.from('{"alg":"HS256","kid":"other"}').toString('base64url');
      for (const tampered of [
        `${head}.${forged({ sub: 'user:admin' })}.${signature}`,
        `${head}.${forged({ exp: 9_999_999_999 })}.${signature}`,
        `${unsigned}.${payload}.`,
        `${otherKey}.${payload}.${signature}`,
        await bySecret.sign(Buffer.from(widget.identitySecret)),
        `${head}.${payload}`,
        tenant.key.key,
        'x',
      ]) {
        const { status, body } = await call(crowd.page(widget).as(tampered));
        expect(status).toBe(401);
        expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
      }
    });

    it('is refused with an expired token', async () => {
      const tokens = service.app.get(VisitorTokens, { strict: false });
      const issue = (issuedAt: Date) =>
        crowd.load(widget).then((of) => tokens.issue(of, 'visitor:x', issuedAt));
      const expired = await issue(new Date(Date.now() - DAY_MS - 1000));
      const { status, body } = await call(crowd.page(widget).as(expired.token));
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
    });

    it("is refused with another widget's token", async () => {
      const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
      const { token } = await crowd.visitor(other);
      expect((await call(crowd.page(widget).as(token!))).status).toBe(401);
    });

    it('is refused for pages of other origins, even with a valid token', async () => {
      const { token } = await crowd.visitor(widget);
      for (const origin of [
        'https://evil.example',
        `${ORIGIN}.evil.example`,
        'http://shop.example',
        'null',
      ]) {
        const { status, body, headers } = await call(crowd.page(widget, { origin }).as(token!));
        expect(status).toBe(403);
        expect(body).toEqual(errorBody('FORBIDDEN', `Pages of ${origin} may not hold this widget.`));
        // The page can read why it is refused.
        expect(headers['access-control-allow-origin']).toBe(origin);
        expect(headers['vary']).toBe(VARY);
      }
    });

    it('is refused at once when the widget is disconnected', async () => {
      const own = await createTenant(service);
      const gone = await TestWidget.connect(service, own.workspace);
      const visitor = await crowd.visitor(gone);
      const connections = service.app.get(ChannelConnectionsService);
      await connections.disconnect(own.workspace.id, gone.connection.id, SYSTEM);
      const { status, body, headers } = await call(visitor);
      expect(status).toBe(404);
      expect(body).toEqual(errorBody('NOT_FOUND', NO_WIDGET));
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);

      const again = await TestWidget.connect(service, own.workspace);
      expect((await call(crowd.page(again).as(visitor.token!))).status).toBe(401);
    });
  });

  describe('the origin', () => {
    const preflight = (path: string, origin: string) =>
      fetch(`${service.baseUrl}${path}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', ...crowd.newAddress() },
      });

    const files = ['/uploads', '/uploads/u-1', '/uploads/u-1/content', '/attachments/a-1/content'];
    it.each(['/sessions', '/messages', '/messages/m-1', '/events', '/receipts', '/typing', ...files])(
      'may be any in a preflight for %s, whatever the site key is',
      async (path) => {
        for (const base of [widget.path, `/channels/widget/${'x'.repeat(32)}`]) {
          const answer = await preflight(base + path, 'https://elsewhere.example');
          expect(answer.status).toBe(204);
          expect(Object.fromEntries(answer.headers)).toMatchObject({
            'access-control-allow-origin': '*',
            'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
            'access-control-allow-headers':
              'Authorization, Content-Type, If-None-Match, Range, X-Request-Id, X-Widget-Preview',
            'access-control-max-age': '600',
            vary: 'Authorization, X-Api-Key',
          });
        }
      },
    );

    it('can read that its body is not taken', async () => {
      const post = (body: string) =>
        fetch(`${service.baseUrl}${widget.path}/messages`, {
          method: 'POST',
          headers: { origin: ORIGIN, 'content-type': 'application/json', ...crowd.newAddress() },
          body,
        });
      for (const [body, status] of [
        ['{', 400],
        [JSON.stringify({ body: 'x'.repeat(300 * 1024) }), 413],
      ] as const) {
        const answer = await post(body);
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, ORIGIN]);
        expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
      }
    });

    it('can read that the site key is of no widget', async () => {
      const { status, headers } = await new TestVisitor(
        { path: `/channels/widget/${'x'.repeat(32)}` },
        service.client.with({ origin: 'https://elsewhere.example', ...crowd.newAddress() }),
      ).open();
      expect([status, headers['access-control-allow-origin']]).toEqual([404, 'https://elsewhere.example']);
    });

    it('costs no connection in a preflight', async () => {
      const blocker = new Client({ connectionString: service.stores.databaseUrl });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE channel_connections IN ACCESS EXCLUSIVE MODE');
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => preflight(`${widget.path}/messages`, ORIGIN)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      await blocker.query('ROLLBACK');
      await blocker.end();
    });

    it('if allowed, can read every answer, also errors', async () => {
      const { headers } = await crowd.page(widget).history();
      expect(headers).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers': 'Retry-After, X-Request-Id',
        vary: VARY,
      });
    });

    it('may be null in a preview, with a token of this widget and of this hour', async () => {
      const tokens = service.app.get(PreviewTokens, { strict: false });
      const of = { tenantId: tenant.workspace.id, id: widget.connection.id };
      const connections = service.app.get(ChannelConnectionsService);
      const { token } = await connections.previewWidget(of.tenantId, of.id, SYSTEM);
      const preview = (token: string, origin = 'null') =>
        crowd.page(widget, { origin, 'x-widget-preview': token });
      const { status, headers, body } = await preview(token).open();
      expect([status, headers['access-control-allow-origin']]).toEqual([201, 'null']);
      expect(
        (
          await preview(token)
            .as(body.token as string)
            .post('m-1')
        ).status,
      ).toBe(201);

      const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
      const pages = [
        preview(tokens.issue(of, Date.now() - HOUR_MS - 1)),
        preview(`9${token.slice(1)}`),
        preview(tokens.issue({ ...of, id: other.connection.id })),
        preview(tokens.issue({ ...of, tenantId: newId() })),
        preview('nope'),
        preview(token, 'https://elsewhere.example'),
        crowd.page(widget, { origin: 'null' }).as(body.token as string),
        crowd.page(other, { origin: 'null', 'x-widget-preview': token }),
      ];
      for (const page of pages) {
        const refused = await page.open();
        expect(refused.status).toBe(403);
        expect(refused.body).toHaveProperty('error.code', 'FORBIDDEN');
      }
    });

    it('is required for a session, and not with a token', async () => {
      const { token } = await crowd.visitor(widget);
      const path = widget.path;
      const plain = service.client.with(crowd.newAddress());
      const begun = await plain.send({ method: 'POST', path: `${path}/sessions`, body: {} });
      expect(begun.status).toBe(403);
      const read = await plain
        .with({ authorization: `Bearer ${token}` })
        .send({ method: 'GET', path: `${path}/messages` });
      expect(read.status).toBe(200);
      expect(read.headers).not.toHaveProperty('access-control-allow-origin');
    });

    it('can be any if the workspace allows it', async () => {
      const open = await TestWidget.connect(service, (await createTenant(service)).workspace, ['*']);
      const { status, headers } = await crowd.page(open, { origin: 'https://any.example' }).open();
      expect(status).toBe(201);
      expect(headers['access-control-allow-origin']).toBe('*');
    });

    it.each([
      [[]],
      [['shop.example']],
      [['https://shop.example/']],
      [['https://a', 'https://a']],
      ['*'],
      [['ftp://a']],
    ])('can’t be configured as %j', async (allowedOrigins) => {
      const { workspace } = await createTenant(service);
      const connecting = TestWidget.connect(service, workspace, allowedOrigins as string[]);
      await expect(connecting).rejects.toMatchObject({ code: 'INVALID_BODY' });
    });
  });

  describe('the limits', () => {
    /** Makes an attempt with exact numbers of requests, of which Redis counts each. */
    const counted = (attempt: () => Promise<void>) => countedInRedis([service], attempt);

    let networks = 0;
    const newNetwork = () => `2001:db8:5:${(++networks).toString(16)}`;

    const expectLimited = (
      { status, body, headers }: Awaited<ReturnType<TestVisitor['send']>>,
      message: string,
    ) => {
      expect(status).toBe(429);
      expect(body.error).toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining(message) });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    };

    it('refuse more than 30 messages a minute of one visitor, and not of others', () =>
      counted(async () => {
        const visitor = await crowd.visitor(widget);
        for (let n = 0; n < 30; n++) expect((await visitor.post('m-1')).status).not.toBe(429);
        expectLimited(await visitor.post('m-2'), 'Too many messages.');
        expect((await visitor.history()).status).toBe(200);
        expect((await (await crowd.visitor(widget)).post('m-1')).status).toBe(201);
      }));

    it('name no visitor in Redis', () =>
      counted(async () => {
        expect((await (await crowd.visitor(widget)).post('m-1')).status).toBe(201);
        const [identity] = await service.query<{ id: string }>(
          'SELECT external_id AS id FROM contact_identities WHERE tenant_id = $1 ORDER BY contact_id DESC LIMIT 1',
          [tenant.workspace.id],
        );
        const limits = await tracesInRedis(service, ['widget-messages:']);
        expect(limits).not.toEqual([]);
        expect(limits.filter((key) => key.includes(identity!.id))).toEqual([]);
      }));

    it('refuse more than 60 sessions a minute of one address behind the proxy', () =>
      counted(async () => {
        const page = crowd.page(widget);
        for (let n = 0; n < 60; n++) expect((await page.open()).status).toBe(201);
        expectLimited(await page.open(), 'Too many sessions from this address.');
        expect((await crowd.page(widget).open()).status).toBe(201);
      }));

    it('refuse more than 120 messages a minute of one address, over all its visitors', () =>
      counted(async () => {
        const page = crowd.page(widget);
        const statuses: number[] = [];
        for (let n = 0; n < 5; n++) {
          const visitor = page.as((await page.open()).body.token as string);
          for (let m = 0; m < 25; m++) statuses.push((await visitor.post('m-1')).status);
        }
        expect(statuses.indexOf(429)).toBe(120);
      }));

    it('count a preview as any page', () =>
      counted(async () => {
        const connections = service.app.get(ChannelConnectionsService);
        const { token } = await connections.previewWidget(tenant.workspace.id, widget.connection.id, SYSTEM);
        const address = crowd.newAddress();
        const preview = crowd.page(widget, { ...address, origin: 'null', 'x-widget-preview': token });
        const session = await preview.open();
        await preview.as(session.body.token as string).post('m-1');
        const counters = ['widget-sessions:', 'widget-messages-from:'];
        for (const counter of counters)
          expect(await tracesInRedis(service, [counter + address['x-forwarded-for']])).toHaveLength(1);
      }));

    it('count a whole /64 of IPv6 as one address', () =>
      counted(async () => {
        const network = newNetwork();
        const from = (n: number, of = network) =>
          crowd.page(widget, { 'x-forwarded-for': `${of}::${n.toString(16)}` });
        for (let n = 0; n < 60; n++) expect((await from(n + 1).open()).status).toBe(201);
        expectLimited(await from(61).open(), 'Too many sessions from this address.');
        expect((await from(1, newNetwork()).open()).status).toBe(201);
      }));

    it('refuse an address that guesses site keys, before they are looked up', () =>
      counted(async () => {
        const headers = { origin: ORIGIN, ...crowd.newAddress() };
        const guess = (n: number) =>
          service.client.with(headers).send({
            method: 'GET',
            path: `/channels/widget/${`${n}`.padStart(32, 'x')}/messages`,
          });
        for (let n = 0; n < 120; n++) expect((await guess(n)).status).toBe(404);
        const blocker = new Client({ connectionString: service.stores.databaseUrl });
        await blocker.connect();
        await blocker.query('BEGIN');
        await blocker.query('LOCK TABLE channel_connections IN ACCESS EXCLUSIVE MODE');
        const refused = await guess(120);
        await blocker.query('ROLLBACK');
        await blocker.end();
        expect(refused.status).toBe(429);
        // A known widget goes on, although the address is refused.
        expect((await widget.page(service.client, headers).open()).status).toBe(201);
      }));

    describe('of a widget', () => {
      let small: TestService;

      beforeAll(async () => {
        const env = { TRUST_PROXY: 'loopback', WIDGET_NEW_VISITORS: '5', WIDGET_MESSAGES: '4' };
        small = await TestService.create({ beside: service, env });
      });

      it('refuse new visitors of a crowd of addresses; those who are logged in or known come in', () =>
        countedInRedis([small], async () => {
          const own = await TestWidget.connect(service, (await createTenant(service)).workspace);
          const page = () => own.page(small.client, crowd.newAddress());
          const tokens: string[] = [];
          for (let n = 0; n < 5; n++) tokens.push((await page().open()).body.token as string);
          expectLimited(await page().open(), 'Too many new visitors of this widget.');
          expect((await page().as(tokens[0]!).open()).status).toBe(201);
          const visitor = { id: 'customer-1', signature: own.sign('customer-1') };
          expect((await page().open({ visitor })).status).toBe(201);
          const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
          expect((await other.page(small.client, crowd.newAddress()).open()).status).toBe(201);
        }));

      it('refuse messages of a crowd of visitors, and none to another widget', () =>
        countedInRedis([small], async () => {
          const post = async (of: TestWidget) => {
            const page = of.page(small.client, crowd.newAddress());
            return page.as((await page.open()).body.token as string).post('m-1');
          };
          const own = await TestWidget.connect(service, (await createTenant(service)).workspace);
          for (let n = 0; n < 4; n++) expect((await post(own)).status).toBe(201);
          expectLimited(await post(own), 'Too many messages to this widget.');
          const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
          expect((await post(other)).status).toBe(201);
        }));
    });

    it('hold back the visitors of one widget at once, and not those of others', async () => {
      const own = await createTenant(service);
      const busy = await TestWidget.connect(service, own.workspace);
      const visitors = await Promise.all(Array.from({ length: 8 }, () => crowd.visitor(busy)));
      await Promise.all(visitors.map((visitor) => visitor.post('m-1')));
      const quiet = await crowd.visitor(widget);
      const blocker = new Client({ connectionString: service.stores.databaseUrl });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM conversations WHERE tenant_id = $1 FOR UPDATE', [own.workspace.id]);
      const answers = Promise.all(visitors.map((visitor) => visitor.post('m-2')));
      const blocked = () => countLockWaits(service);
      // Half of half of the tests' 10 connections, rounded up.
      await waitFor('messages that hold connections', async () => (await blocked()) === 3);
      expect((await quiet.post('m-1')).status).toBe(201);
      expect(await blocked()).toBeLessThanOrEqual(3);
      await blocker.query('ROLLBACK');
      await blocker.end();
      // On a busy machine some have waited for two seconds without a slot, or for five with one.
      for (const { status } of await answers) expect([201, 429, 503]).toContain(status);
    });

    it('refuse an address that guesses tokens', () =>
      counted(async () => {
        const page = crowd.page(widget).as('x');
        for (let n = 0; n < 120; n++) expect((await page.history()).status).toBe(401);
        expectLimited(await page.history(), 'Too many refused requests.');
      }));
  });
});
