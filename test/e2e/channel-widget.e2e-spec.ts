import { type JWTPayload, SignJWT } from 'jose';
import { Client } from 'pg';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { Widget } from '../../src/channels/widget/visitor';
import { VisitorTokens } from '../../src/channels/widget/visitor-tokens';
import { CreateContact } from '../../src/contacts/contact.dto';
import { ContactsService } from '../../src/contacts/contacts.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/common/principal';
import { Database } from '../../src/database/database';
import { AgentsService } from '../../src/workspaces/agents.service';
import { errorBody } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { ORIGIN, TestVisitor, TestWidget } from '../support/widget';

const VARY = 'Authorization, X-Api-Key, Origin';
const NO_TOKEN = 'Send a token of a session as "Authorization: Bearer …".';
const BAD_TOKEN = 'The token is malformed, expired, or of another widget: begin a new session without it.';
const NO_WIDGET = 'Widget not found.';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A valid call of every route that requires a token. */
const CALLS: [string, (visitor: TestVisitor) => ReturnType<TestVisitor['send']>][] = [
  ['POST messages', (visitor) => visitor.post('m-1')],
  ['GET messages', (visitor) => visitor.history()],
  ['POST receipts', (visitor) => visitor.receipt(newId(), 'READ')],
  ['GET events', (visitor) => visitor.send('GET', '/events')],
];

describe('the widget', () => {
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;

  beforeAll(async () => {
    // Each visitor comes from another address.
    service = await TestService.create({ env: { TRUST_PROXY: 'loopback' } });
    tenant = await createTenant(service);
    widget = await TestWidget.connect(service, tenant.workspace);
  });
  afterAll(() => service.close());

  let addresses = 0;
  const fromNewAddress = () => {
    const n = ++addresses;
    return { 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  };
  const pageOf = (of: TestWidget, headers: Record<string, string> = {}) =>
    of.page(service.client, { ...fromNewAddress(), ...headers });

  async function visitorOf(of: TestWidget, body: object = {}): Promise<TestVisitor> {
    const page = pageOf(of);
    return page.as((await page.open(body)).body.token as string, service.baseUrl);
  }

  const hoursUntil = (moment: string) => (Date.parse(moment) - Date.now()) / 3_600_000;
  const loaded = async (of: TestWidget) =>
    (await service.app
      .get(ConnectionLoader, { strict: false })
      .loadByHookKey('WIDGET', of.siteKey)) as Widget;
  const contactsNamed = async (q: string) =>
    (await tenant.client.get(`/contacts?q=${encodeURIComponent(q)}`)).body.data as Record<string, unknown>[];

  describe('a session', () => {
    it('lasts 24 hours, can be renewed for 90 days, and makes no contact before the first message', async () => {
      const before = (await tenant.client.all('/contacts', 200)).length;
      const { status, body } = await pageOf(widget).open();
      expect(status).toBe(201);
      expect(body).toEqual({
        token: expect.any(String),
        expiresAt: expect.any(String),
        renewableUntil: expect.any(String),
        conversationId: null,
      });
      expect(Math.round(hoursUntil(body.expiresAt as string))).toBe(24);
      expect(Math.round(hoursUntil(body.renewableUntil as string))).toBe(90 * 24);
      expect((await tenant.client.all('/contacts', 200)).length).toBe(before);
    });

    it('is renewed for the same visitor by its token', async () => {
      const visitor = await visitorOf(widget);
      const { body: posted } = await visitor.post('first');
      const { status, body } = await visitor.open();
      expect(status).toBe(201);
      expect(body.conversationId).not.toBeNull();
      const { body: history } = await visitor.as(body.token as string).history();
      expect(history.data.map(({ id }: { id: string }) => id)).toEqual([posted.message.id]);
    });

    /** Of a session that was begun so many days ago. */
    const tokenOf = async (of: TestWidget, externalId: string, days: number) => {
      const tokens = service.app.get(VisitorTokens, { strict: false });
      const issuedAt = new Date(Date.now() - days * DAY_MS);
      return (await tokens.issue(await loaded(of), externalId, issuedAt)).token;
    };

    it('is renewed after it has expired, for the same anonymous visitor', async () => {
      const externalId = `visitor:away-${newId()}`;
      const page = pageOf(widget);
      const { body: posted } = await page.as(await tokenOf(widget, externalId, 0)).post('m-1');
      const old = page.as(await tokenOf(widget, externalId, 89.99));
      for (const [, call] of CALLS) expect((await call(old)).status).toBe(401);
      const { status, body } = await old.open();
      expect(status).toBe(201);
      expect(Math.round(hoursUntil(body.expiresAt as string))).toBe(24);
      expect(Math.round(hoursUntil(body.renewableUntil as string))).toBe(90 * 24);
      const { data } = (await page.as(body.token as string).history()).body;
      expect(data).toEqual([posted.message]);
    });

    it('is not renewed after 90 days', async () => {
      const late = pageOf(widget).as(await tokenOf(widget, 'visitor:late', 90.01));
      const { status, body } = await late.open();
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
    });

    it('of a logged-in visitor is renewed until it expires', async () => {
      const page = pageOf(widget);
      const { status, body } = await page.as(await tokenOf(widget, 'user:early', 0.99)).open();
      expect(status).toBe(201);
      expect(body.renewableUntil).toBe(body.expiresAt);
      expect((await page.as(await tokenOf(widget, 'user:early', 1.01)).open()).status).toBe(401);
    });

    it('ends for ever when the widget is disconnected', async () => {
      const { workspace } = await createTenant(service);
      const own = await TestWidget.connect(service, workspace);
      const token = await tokenOf(own, 'visitor:gone', 2);
      await service.app.get(ChannelConnectionsService).disconnect(workspace.id, own.connection.id, SYSTEM);
      expect((await pageOf(own).as(token).open()).status).toBe(404);
      const again = await TestWidget.connect(service, workspace);
      expect((await pageOf(again).as(token).open()).status).toBe(401);
    });

    it('lasts under another first key, while the key of its token is configured', async () => {
      const visitor = await visitorOf(widget);
      const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
      const withKeys = (...keys: string[]) =>
        TestService.create({ beside: service, env: { SECRETS_KEYS: keys.join(',') } });
      const rotated = await withKeys(key('new', 8), key('test', 7));
      try {
        const page = widget.page(rotated.client);
        expect((await page.as(visitor.token!).history()).status).toBe(200);
        const renewed = (await page.as(visitor.token!).open()).body.token as string;
        const [head] = renewed.split('.') as [string];
        expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'new' });
        expect((await page.as(renewed).history()).status).toBe(200);
        expect((await visitor.as(renewed).history()).status).toBe(401);
      } finally {
        await rotated.close();
      }
    });

    it.each(['{"visitor":1}', '{"visitor":{"id":"7"}}', '{"name":"Zoë"}', '[]', 'null'])(
      'is refused with %s',
      async (raw) => {
        const { status, body } = await pageOf(widget).open(JSON.parse(raw));
        expect(status).toBe(400);
        expect(body.error.code).toBe('INVALID_BODY');
      },
    );

    it('is refused for an unknown widget', async () => {
      const siteKey = 'x'.repeat(32);
      const path = `/channels/widget/${siteKey}/sessions`;
      const answer = await service.client
        .with({ origin: ORIGIN, ...fromNewAddress() })
        .send({ method: 'POST', path, body: {} });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(errorBody('NOT_FOUND', NO_WIDGET));
    });
  });

  describe('a logged-in visitor', () => {
    const session = (id: string, of = widget) => ({ visitor: { id, signature: of.sign(id) } });

    it('is the same contact in every browser, with the given name and e-mail address', async () => {
      const known = { ...session('customer-1').visitor, name: 'Zoë Signed', email: 'zoe@example.com' };
      const first = await visitorOf(widget, { visitor: known });
      await first.post('a', 'From my phone');
      const second = await visitorOf(widget, session('customer-1'));
      expect((await second.history()).body.data).toMatchObject([{ body: 'From my phone' }]);
      expect(await contactsNamed('Zoë Signed')).toEqual([
        expect.objectContaining({
          name: 'Zoë Signed',
          email: 'zoe@example.com',
          identities: [{ channel: 'WIDGET', externalId: 'user:customer-1' }],
        }),
      ]);

      await visitorOf(widget, { visitor: { ...known, name: 'Zoë Renamed' } });
      expect(await contactsNamed('Zoë Renamed')).toEqual([]);
      expect(await contactsNamed('Zoë Signed')).toMatchObject([{ email: 'zoe@example.com', verified: [] }]);
    });

    it('fills what the workspace does not know, and replaces nothing that it stored', async () => {
      const stored = { name: 'Stored Name', identity: { channel: 'WIDGET', externalId: 'user:stored' } };
      await service.app.get(ContactsService).create(tenant.workspace.id, stored as CreateContact);
      const claims = { ...session('stored').visitor, name: 'Mallory', email: 'own@example.com' };
      await visitorOf(widget, { visitor: claims });
      expect(await contactsNamed('Stored Name')).toMatchObject([{ email: 'own@example.com', verified: [] }]);
      await visitorOf(widget, { visitor: { ...claims, email: 'other@example.com' } });
      expect(await contactsNamed('other@example.com')).toEqual([]);
      expect(await contactsNamed('Mallory')).toEqual([]);
    });

    describe('with a JWT', () => {
      const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
      const jwtOf = (claims: JWTPayload, secret = widget.identitySecret, alg = 'HS256') =>
        new SignJWT(claims).setProtectedHeader({ alg }).sign(Buffer.from(secret));
      const openWith = (jwt: string, more: object = {}) => pageOf(widget).open({ visitor: { jwt, ...more } });

      it('is that of the signature, with what the workspace’s server has signed', async () => {
        const visitor = await visitorOf(widget, {
          visitor: { ...session('jwt-1').visitor, name: 'Own Words', email: 'claimed@example.com' },
        });
        await visitor.post('a', 'Before');
        const jwt = await jwtOf({ sub: 'jwt-1', exp: inSeconds(60), email: 'signed@example.com' });
        const again = await visitorOf(widget, {
          visitor: { jwt, name: 'Other Words', email: 'x@example.com' },
        });
        expect((await again.history()).body.data).toMatchObject([{ body: 'Before' }]);
        const contact = expect.objectContaining({
          name: 'Own Words',
          email: 'signed@example.com',
          verified: ['email'],
        });
        expect(await contactsNamed('Own Words')).toEqual([contact]);

        const named = await jwtOf({ sub: 'jwt-1', exp: inSeconds(60), name: 'Signed Words' });
        await visitorOf(widget, { visitor: { jwt: named } });
        expect(await contactsNamed('Signed Words')).toMatchObject([
          { email: 'signed@example.com', verified: ['email', 'name'] },
        ]);
        await visitorOf(widget, { visitor: { ...session('jwt-1').visitor, name: 'Mallory Words' } });
        expect(await contactsNamed('Mallory Words')).toEqual([]);
      });

      it('may have expired seconds ago, and no longer', async () => {
        expect((await openWith(await jwtOf({ sub: 'jwt-2', exp: inSeconds(-3) }))).status).toBe(201);
        expect((await openWith(await jwtOf({ sub: 'jwt-2', exp: inSeconds(-60) }))).status).toBe(401);
      });

      it('is refused when it is not signed so, never expires, or is for nobody', async () => {
        const exp = inSeconds(60);
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const claims = { sub: 'jwt-3', exp, name: 'Mallory Jwt' };
        const [head, payload, signature] = (await jwtOf(claims)).split('.') as [string, string, string];
        for (const jwt of [
          await jwtOf(claims, 'x'.repeat(64)),
          await jwtOf(claims, widget.identitySecret, 'HS512'),
          await jwtOf({ sub: 'jwt-3', name: 'Mallory Jwt' }),
          await jwtOf({ exp, name: 'Mallory Jwt' }),
          await jwtOf({ ...claims, nbf: inSeconds(60) }),
          `${part({ alg: 'none' })}.${payload}.`,
          `${part({ alg: 'none' })}.${payload}.${signature}`,
          `${head}.${part({ ...claims, sub: 'admin' })}.${signature}`,
          `${head}.${payload}`,
          'x',
        ]) {
          const { status, body } = await openWith(jwt);
          expect(status).toBe(401);
          expect(body).toEqual(
            errorBody(
              'UNAUTHENTICATED',
              "The visitor's JWT is expired, or not signed with this widget's secret.",
            ),
          );
        }
        expect(await contactsNamed('Mallory Jwt')).toEqual([]);
      });

      it('is refused with claims that no contact can have, or beside a signature', async () => {
        const exp = inSeconds(60);
        const refusals = [
          await openWith(await jwtOf({ sub: 'x'.repeat(201), exp })),
          await openWith(await jwtOf({ sub: 'jwt-4', exp, email: 'nobody' })),
          await openWith(await jwtOf({ sub: 'jwt-4', exp, name: ' ' })),
          await openWith(await jwtOf({ sub: 'jwt-4', exp }), session('jwt-4').visitor),
        ];
        for (const { status, body } of refusals) {
          expect(status).toBe(400);
          expect(body.error.code).toBe('INVALID_BODY');
        }
      });
    });

    it('is one contact when ten tabs begin sessions at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          pageOf(widget).open({ visitor: { ...session('crowd').visitor, name: 'Crowd One' } }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
      expect(await contactsNamed('Crowd One')).toHaveLength(1);
    });

    it('is refused with a signature of another id or secret, or an invalid one', async () => {
      const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
      for (const signature of [widget.sign('customer-3'), other.sign('customer-2'), '0'.repeat(64)]) {
        const visitor = { id: 'customer-2', signature, name: 'Mallory' };
        const { status, body } = await pageOf(widget).open({ visitor });
        expect(status).toBe(401);
        expect(body.error.code).toBe('UNAUTHENTICATED');
      }
      expect(await contactsNamed('Mallory')).toEqual([]);
    });

    it('needs a new session after the identity secret has changed; an anonymous one does not', async () => {
      const { workspace } = await createTenant(service);
      const own = await TestWidget.connect(service, workspace);
      const signed = await visitorOf(own, session('customer-9', own));
      const anonymous = await visitorOf(own);
      const rotate = (credentials: object) =>
        service.app
          .get(ChannelConnectionsService)
          .rotate(workspace.id, own.connection.id, credentials, SYSTEM);

      const kept = await rotate({ allowedOrigins: [ORIGIN], keepIdentitySecret: true });
      expect(kept.reveal).toEqual({});
      expect((await signed.history()).status).toBe(200);

      const changed = await rotate({ allowedOrigins: [ORIGIN] });
      expect(changed.reveal).toEqual({ identitySecret: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect((await signed.history()).status).toBe(401);
      expect((await anonymous.history()).status).toBe(200);
    });
  });

  describe.each(CALLS)('%s', (_, call) => {
    it('is refused without a token', async () => {
      const { status, body } = await call(pageOf(widget));
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', NO_TOKEN));
    });

    it('is refused with a forged token', async () => {
      const { token } = await visitorOf(widget);
      const [head, payload, signature] = token!.split('.') as [string, string, string];
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
      const forged = (changes: object) =>
        Buffer.from(JSON.stringify({ ...claims, ...changes })).toString('base64url');
      const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
      const otherKey = Buffer.from('{"alg":"HS256","kid":"other"}').toString('base64url');
      for (const tampered of [
        `${head}.${forged({ sub: 'user:admin' })}.${signature}`,
        `${head}.${forged({ exp: 9_999_999_999 })}.${signature}`,
        `${unsigned}.${payload}.`,
        `${otherKey}.${payload}.${signature}`,
        `${head}.${payload}`,
        tenant.key.key,
        'x',
      ]) {
        const { status, body } = await call(pageOf(widget).as(tampered));
        expect(status).toBe(401);
        expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
      }
    });

    it('is refused with an expired token', async () => {
      const tokens = service.app.get(VisitorTokens, { strict: false });
      const issue = (issuedAt: Date) => loaded(widget).then((of) => tokens.issue(of, 'visitor:x', issuedAt));
      const expired = await issue(new Date(Date.now() - DAY_MS - 1000));
      const { status, body } = await call(pageOf(widget).as(expired.token));
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
    });

    it("is refused with another widget's token", async () => {
      const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
      const { token } = await visitorOf(other);
      expect((await call(pageOf(widget).as(token!))).status).toBe(401);
    });

    it('is refused for pages of other origins, even with a valid token', async () => {
      const { token } = await visitorOf(widget);
      for (const origin of [
        'https://evil.example',
        `${ORIGIN}.evil.example`,
        'http://shop.example',
        'null',
      ]) {
        const { status, body, headers } = await call(pageOf(widget, { origin }).as(token!));
        expect(status).toBe(403);
        expect(body).toEqual(errorBody('FORBIDDEN', `Pages of ${origin} may not hold this widget.`));
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        expect(headers['vary']).toBe(VARY);
      }
    });

    it('is refused at once when the widget is disconnected', async () => {
      const own = await createTenant(service);
      const gone = await TestWidget.connect(service, own.workspace);
      const visitor = await visitorOf(gone);
      const connections = service.app.get(ChannelConnectionsService);
      await connections.disconnect(own.workspace.id, gone.connection.id, SYSTEM);
      const { status, body } = await call(visitor);
      expect(status).toBe(404);
      expect(body).toEqual(errorBody('NOT_FOUND', NO_WIDGET));

      const again = await TestWidget.connect(service, own.workspace);
      expect((await call(pageOf(again).as(visitor.token!))).status).toBe(401);
    });
  });

  describe('the origin', () => {
    const preflight = (path: string, origin: string) =>
      fetch(`${service.baseUrl}${path}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', ...fromNewAddress() },
      });

    it.each(['/sessions', '/messages', '/events', '/receipts'])(
      'may be any in a preflight for %s, whatever the site key is',
      async (path) => {
        for (const base of [widget.path, `/channels/widget/${'x'.repeat(32)}`]) {
          const answer = await preflight(base + path, 'https://elsewhere.example');
          expect(answer.status).toBe(204);
          expect(Object.fromEntries(answer.headers)).toMatchObject({
            'access-control-allow-origin': '*',
            'access-control-allow-methods': 'GET, POST',
            'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id',
            'access-control-max-age': '600',
            vary: 'Authorization, X-Api-Key',
          });
        }
      },
    );

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
      const { headers } = await pageOf(widget).history();
      expect(headers).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers': 'Retry-After, X-Request-Id',
        vary: VARY,
      });
    });

    it('is required for a session, and not with a token', async () => {
      const { token } = await visitorOf(widget);
      const path = widget.path;
      const plain = service.client.with(fromNewAddress());
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
      const { status, headers } = await pageOf(open, { origin: 'https://any.example' }).open();
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

  describe('a message', () => {
    it('is stored in a conversation of a new contact, with its event', async () => {
      const visitor = await visitorOf(widget);
      const { status, body } = await visitor.post('m-1', 'Where is my order?');
      expect(status).toBe(201);
      expect(body).toEqual({
        message: {
          id: expect.any(String),
          senderType: 'CUSTOMER',
          senderName: null,
          clientMessageId: 'm-1',
          body: 'Where is my order?',
          createdAt: expect.any(String),
          delivery: { status: null },
        },
      });
      const { conversationId } = (await visitor.open()).body;
      const conversation = await tenant.client.get(`/conversations/${conversationId}`);
      expect(conversation.body).toMatchObject({
        sourceChannel: 'WIDGET',
        status: 'OPEN',
        lastMessagePreview: 'Where is my order?',
        contact: {
          name: null,
          identities: [{ channel: 'WIDGET', externalId: expect.stringMatching(/^visitor:/) }],
        },
      });
      const events = await eventsOf(service, tenant.workspace, 'message.created');
      expect(events.filter((event) => event['conversationId'] === conversationId)).toHaveLength(1);
    });

    it('is stored once, whatever a retry under its id has', async () => {
      const visitor = await visitorOf(widget);
      const first = await visitor.post('m-1', 'Once');
      const again = await visitor.post('m-1', 'Once');
      expect([first.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(first.body);
      expect((await visitor.post('m-1', 'Another text')).body).toEqual(first.body);
      expect((await visitor.history()).body.data).toHaveLength(1);
    });

    it('is stored once when a new visitor sends it twenty times at once', async () => {
      const visitor = await visitorOf(widget);
      const answers = await Promise.all(Array.from({ length: 20 }, () => visitor.post('m-1', 'Hello?')));
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
      expect(new Set(answers.map(({ body }) => body.message.id as string)).size).toBe(1);
      expect((await visitor.history()).body.data).toHaveLength(1);
    });

    it('says who an anonymous visitor is, as far as the workspace does not know', async () => {
      const visitor = await visitorOf(widget);
      const write = (clientMessageId: string, profile: object) =>
        visitor.send('POST', '/messages', { clientMessageId, body: 'Hello?', ...profile });
      expect((await write('m-1', { name: 'Zoë Anonymous', email: null })).status).toBe(201);
      const [contact] = await contactsNamed('Zoë Anonymous');
      expect(contact).toMatchObject({ email: null, verified: [] });
      await write('m-2', { name: 'Mallory Anonymous', email: 'zoe.anonymous@example.com' });
      await write('m-3', { email: 'other.anonymous@example.com' });
      expect(await contactsNamed('Zoë Anonymous')).toEqual([
        expect.objectContaining({ id: contact!['id'], email: 'zoe.anonymous@example.com', verified: [] }),
      ]);
      expect(await contactsNamed('Mallory Anonymous')).toEqual([]);
    });

    it('replaces nothing that is signed, and says nothing when it is known', async () => {
      const visitor = { id: 'claims', signature: widget.sign('claims'), name: 'Signed Claims' };
      const known = await visitorOf(widget, { visitor });
      await known.send('POST', '/messages', { clientMessageId: 'm', body: 'Hello?', name: 'Other Claims' });
      expect(await contactsNamed('Other Claims')).toEqual([]);
      const retried = { clientMessageId: 'm', body: 'Hello?', email: 'late.claims@example.com' };
      expect((await known.send('POST', '/messages', retried)).status).toBe(200);
      expect(await contactsNamed('Signed Claims')).toMatchObject([{ email: null }]);
    });

    it('is shown to the visitor with its client message id, in every browser', async () => {
      const session = { visitor: { id: 'user 7', signature: widget.sign('user 7') } };
      const [first, second] = [await visitorOf(widget, session), await visitorOf(widget, session)];
      await first.post('phone:1');
      await second.post('laptop_1');
      const { data } = (await first.history()).body as { data: { clientMessageId: string }[] };
      expect(data.map(({ clientMessageId }) => clientMessageId)).toEqual(['laptop_1', 'phone:1']);
    });

    it('is not mixed up with another visitor’s of the same id', async () => {
      const [one, other] = [await visitorOf(widget), await visitorOf(widget)];
      await one.post('m-1', 'Mine');
      expect((await other.post('m-1', 'Theirs')).status).toBe(201);
      expect((await other.history()).body.data).toMatchObject([{ body: 'Theirs' }]);
    });

    it('reopens a closed conversation', async () => {
      const visitor = await visitorOf(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      await tenant.client.patch(`/conversations/${conversationId}`, { status: 'CLOSED' });
      await visitor.post('m-2');
      expect((await tenant.client.get(`/conversations/${conversationId}`)).body.status).toBe('OPEN');
    });

    it('is stored even after the workspace’s trial has expired', async () => {
      const workspace = await service.make.expiredTrial();
      const visitor = await visitorOf(await TestWidget.connect(service, workspace));
      expect((await visitor.post('m-1')).status).toBe(201);
    });

    it.each([
      [{ clientMessageId: 'm', body: ' ' }, 'body'],
      [{ clientMessageId: 'm', body: 'x'.repeat(4097) }, 'body'],
      [{ clientMessageId: 'm', body: 'a\0b' }, 'body'],
      [{ clientMessageId: 'm 1', body: 'x' }, 'clientMessageId'],
      [{ clientMessageId: '', body: 'x' }, 'clientMessageId'],
      [{ body: 'x' }, 'clientMessageId'],
      [{ clientMessageId: 'm', body: 'x', senderType: 'AGENT' }, 'senderType'],
      [{ clientMessageId: 'm', body: 'x', name: ' ' }, 'name'],
      [{ clientMessageId: 'm', body: 'x', email: 'nobody' }, 'email'],
    ])('is refused as %j', async (body, field) => {
      const answer = await (await visitorOf(widget)).send('POST', '/messages', body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details).toMatchObject([{ field }]);
    });
  });

  describe('the history', () => {
    it('is empty before the first message', async () => {
      expect((await (await visitorOf(widget)).history()).body).toEqual({ data: [], nextCursor: null });
    });

    it('has the pages and messages of the API', async () => {
      const visitor = await visitorOf(widget);
      for (const n of [1, 2, 3, 4, 5]) await visitor.post(`m-${n}`, `Message ${n}`);
      const { conversationId } = (await visitor.open()).body;
      await tenant.client.post(`/conversations/${conversationId}/messages`, { body: 'An answer' });
      const seen: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await visitor.history(`?limit=4${cursor && `&cursor=${cursor}`}`);
        seen.push(...(page.body.data as unknown[]));
        cursor = page.body.nextCursor as string | null;
      }
      expect(seen).toHaveLength(6);
      const whole: any[] = await tenant.client.all(`/conversations/${conversationId}/messages`, 50);
      expect(seen).toEqual(
        whole.map(({ id, senderType, body, createdAt, delivery }, index) => ({
          id,
          senderType,
          senderName: null,
          clientMessageId: index === 0 ? null : `m-${whole.length - index}`,
          body,
          createdAt,
          delivery: { status: delivery.status },
        })),
      );
    });

    it('shows agents by the display names that they have now', async () => {
      const visitor = await visitorOf(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      const agents = await Promise.all(
        ['Ada', 'Grace', null].map((displayName) =>
          service.make.agent(tenant.workspace, { role: 'AGENT', displayName }),
        ),
      );
      const [ada] = agents;
      for (const { id: senderAgentId, displayName } of [...agents, ada!])
        await tenant.client.post(`/conversations/${conversationId}/messages`, {
          ...{ body: `I am ${displayName}`, senderAgentId },
        });
      await service.app
        .get(AgentsService)
        .update(tenant.workspace.id, ada!.id, { displayName: 'A.' }, SYSTEM);
      const { data } = (await visitor.history()).body as { data: Record<string, unknown>[] };
      expect(data.map(({ body, senderName }) => [body, senderName])).toEqual([
        ['I am Ada', 'A.'],
        ['I am null', null],
        ['I am Grace', 'Grace'],
        ['I am Ada', 'A.'],
        ['Do you ship to Spain?', null],
      ]);
    });

    it('shows neither which agent answered nor why an answer failed', async () => {
      const visitor = await visitorOf(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      const path = `/conversations/${conversationId}/messages`;
      const { body } = await tenant.client.post(path, { body: 'An answer' });
      await service.query(
        `UPDATE messages SET delivery_status = 'FAILED', delivery_error = $2 WHERE id = $1`,
        [body.message.id, { code: 'REFUSED', providerCode: '190', message: 'The token of ACME is bad' }],
      );
      const [shown] = (await visitor.history()).body.data as object[];
      expect(shown).toEqual({
        id: body.message.id,
        senderType: 'AGENT',
        senderName: null,
        clientMessageId: null,
        body: 'An answer',
        createdAt: body.message.createdAt,
        delivery: { status: 'FAILED' },
      });
    });

    it.each(['?limit=0', '?limit=201', '?cursor=x', '?colour=red'])('refuses %s', async (query) => {
      const { status, body } = await (await visitorOf(widget)).history(query);
      expect(status).toBe(400);
      expect(body.error.code).toBe('INVALID_QUERY');
    });
  });

  describe('receipts', () => {
    let visitor: TestVisitor;
    let conversationId: string;

    beforeEach(async () => {
      visitor = await visitorOf(widget);
      await visitor.post('m-1');
      conversationId = (await visitor.open()).body.conversationId as string;
    });

    async function insertOutbound(status: string): Promise<string> {
      const path = `/conversations/${conversationId}/messages`;
      const { body } = await tenant.client.post(path, { body: 'An answer' });
      await service.query('UPDATE messages SET delivery_status = $2 WHERE id = $1', [
        body.message.id,
        status,
      ]);
      return body.message.id as string;
    }
    const statuses = async () =>
      ((await visitor.history()).body.data as { senderType: string; delivery: { status: string } }[])
        .filter(({ senderType }) => senderType === 'AGENT')
        .map(({ delivery }) => delivery.status)
        .reverse();

    it('advance every outbound message up to the one that they name, and none after it', async () => {
      await insertOutbound('SENT');
      const second = await insertOutbound('SENT');
      await insertOutbound('SENT');
      expect((await visitor.receipt(second, 'DELIVERED')).body).toEqual({ advanced: 2 });
      expect(await statuses()).toEqual(['DELIVERED', 'DELIVERED', 'SENT']);
      expect((await visitor.receipt(second, 'READ')).body).toEqual({ advanced: 2 });
      expect(await statuses()).toEqual(['READ', 'READ', 'SENT']);
    });

    it('never go back, and don’t advance a QUEUED message', async () => {
      await insertOutbound('READ');
      await insertOutbound('SENDING');
      const last = await insertOutbound('QUEUED');
      expect((await visitor.receipt(last, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await statuses()).toEqual(['READ', 'DELIVERED', 'QUEUED']);
    });

    it('cancel the sending of a message that waits for a retry, or was released', async () => {
      const messages = service.app.get(OutboundMessagesRepository, { strict: false });
      const connection = await loaded(widget);
      const outboundRows = () =>
        service.query('SELECT FROM outbound_messages WHERE conversation_id = $1', [conversationId]);
      const insertClaimed = async () => {
        const messageId = await insertOutbound('QUEUED');
        await service.query(
          `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
           VALUES ($1, $2, $3, $4, now())`,
          [tenant.workspace.id, conversationId, messageId, connection.id],
        );
        return (await messages.claim(connection, 1))[0]!;
      };

      const retried = await insertClaimed();
      await service.app.get(Database).transaction((tx) => messages.scheduleRetry(tx, retried, 0));
      expect((await visitor.receipt(retried.messageId, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await outboundRows()).toEqual([]);

      const released = await insertClaimed();
      expect((await visitor.receipt(released.messageId, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await outboundRows()).toHaveLength(1);
      await messages.release(released);
      expect(await outboundRows()).toEqual([]);
    });

    it('are refused for a message that is not in the conversation', async () => {
      const elsewhere = `/conversations/${tenant.conversation.id}/messages`;
      const foreign = (await tenant.client.post(elsewhere, { body: 'To another' })).body.message.id;
      for (const messageId of [newId(), 'x', foreign as string]) {
        const { status, body } = await visitor.receipt(messageId, 'READ');
        expect(status).toBe(404);
        expect(body).toEqual(errorBody('NOT_FOUND', 'Message not found.'));
      }
      expect((await visitor.receipt(newId(), 'SENT')).status).toBe(400);
    });
  });

  describe('the limits', () => {
    const expectLimited = (
      { status, body, headers }: Awaited<ReturnType<TestVisitor['send']>>,
      message: string,
    ) => {
      expect(status).toBe(429);
      expect(body.error).toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining(message) });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    };

    it('refuse more than 30 messages a minute of one visitor, and not of others', async () => {
      const visitor = await visitorOf(widget);
      for (let n = 0; n < 30; n++) expect((await visitor.post('m-1')).status).not.toBe(429);
      expectLimited(await visitor.post('m-2'), 'Too many messages.');
      expect((await visitor.history()).status).toBe(200);
      expect((await (await visitorOf(widget)).post('m-1')).status).toBe(201);
    });

    it('refuse more than 60 sessions a minute of one address behind the proxy', async () => {
      const page = pageOf(widget);
      for (let n = 0; n < 60; n++) expect((await page.open()).status).toBe(201);
      expectLimited(await page.open(), 'Too many sessions from this address.');
      expect((await pageOf(widget).open()).status).toBe(201);
    });

    it('refuse more than 120 messages a minute of one address, over all its visitors', async () => {
      const page = pageOf(widget);
      const statuses: number[] = [];
      for (let n = 0; n < 5; n++) {
        const visitor = page.as((await page.open()).body.token as string);
        for (let m = 0; m < 25; m++) statuses.push((await visitor.post('m-1')).status);
      }
      expect(statuses.indexOf(429)).toBe(120);
    });

    it('count a whole /64 of IPv6 as one address', async () => {
      const from = (n: number, network = '2001:db8:5:1') =>
        pageOf(widget, { 'x-forwarded-for': `${network}::${n.toString(16)}` });
      for (let n = 0; n < 60; n++) expect((await from(n + 1).open()).status).toBe(201);
      expectLimited(await from(61).open(), 'Too many sessions from this address.');
      expect((await from(1, '2001:db8:5:2').open()).status).toBe(201);
    });

    it('refuse an address that guesses site keys, before they are looked up', async () => {
      const headers = { origin: ORIGIN, ...fromNewAddress() };
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
      expect((await guess(120)).status).toBe(429);
      await blocker.query('ROLLBACK');
      await blocker.end();
      // A widget that is known goes on, whoever else is behind the address.
      expect((await widget.page(service.client, headers).open()).status).toBe(201);
    });

    describe('of a widget', () => {
      let small: TestService;

      beforeAll(async () => {
        const env = { TRUST_PROXY: 'loopback', WIDGET_NEW_VISITORS: '5', WIDGET_MESSAGES: '4' };
        small = await TestService.create({ beside: service, env });
      });
      afterAll(() => small.close());

      it('refuse new visitors of a crowd of addresses; those who are logged in or known come in', async () => {
        const own = await TestWidget.connect(service, (await createTenant(service)).workspace);
        const page = () => own.page(small.client, fromNewAddress());
        const tokens: string[] = [];
        for (let n = 0; n < 5; n++) tokens.push((await page().open()).body.token as string);
        expectLimited(await page().open(), 'Too many new visitors of this widget.');
        expect((await page().as(tokens[0]!).open()).status).toBe(201);
        const visitor = { id: 'customer-1', signature: own.sign('customer-1') };
        expect((await page().open({ visitor })).status).toBe(201);
        const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
        expect((await other.page(small.client, fromNewAddress()).open()).status).toBe(201);
      });

      it('refuse messages of a crowd of visitors, and none to another widget', async () => {
        const post = async (of: TestWidget) => {
          const page = of.page(small.client, fromNewAddress());
          return page.as((await page.open()).body.token as string).post('m-1');
        };
        const own = await TestWidget.connect(service, (await createTenant(service)).workspace);
        for (let n = 0; n < 4; n++) expect((await post(own)).status).toBe(201);
        expectLimited(await post(own), 'Too many messages to this widget.');
        const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
        expect((await post(other)).status).toBe(201);
      });
    });

    it('hold back the visitors of one widget at once, and not those of others', async () => {
      const own = await createTenant(service);
      const busy = await TestWidget.connect(service, own.workspace);
      const visitors = await Promise.all(Array.from({ length: 8 }, () => visitorOf(busy)));
      await Promise.all(visitors.map((visitor) => visitor.post('m-1')));
      const blocker = new Client({ connectionString: service.stores.databaseUrl });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM conversations WHERE tenant_id = $1 FOR UPDATE', [own.workspace.id]);
      const answers = Promise.all(visitors.map((visitor) => visitor.post('m-2')));
      const blocked = async () =>
        (
          await service.query(
            `SELECT FROM pg_stat_activity
             WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
          )
        ).length;
      // Half of half of the tests' 10 connections, rounded up.
      await waitFor('messages that hold connections', async () => (await blocked()) === 3);
      const quiet = await visitorOf(widget);
      expect((await quiet.post('m-1')).status).toBe(201);
      expect(await blocked()).toBeLessThanOrEqual(3);
      await blocker.query('ROLLBACK');
      await blocker.end();
      for (const { status } of await answers) expect([201, 503]).toContain(status);
    });

    it('refuse an address that guesses tokens', async () => {
      const page = pageOf(widget).as('x');
      for (let n = 0; n < 120; n++) expect((await page.history()).status).toBe(401);
      expectLimited(await page.history(), 'Too many refused requests.');
    });
  });
});
