import { type JWTPayload, SignJWT } from 'jose';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { VisitorTokens } from '../../src/channels/widget/visitor-tokens';
import { CreateContact } from '../../src/contacts/contact.dto';
import { ContactsService } from '../../src/contacts/contacts.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { errorBody } from '../support/errors';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { ORIGIN, TestWidget } from '../support/widget';
import { BAD_TOKEN, NO_WIDGET, VISITOR_CALLS, WidgetCrowd } from '../support/widget-crowd';

const DAY_MS = 24 * 60 * 60 * 1000;

describe("the sessions of the widget's visitors", () => {
  let crowd: WidgetCrowd;
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;

  beforeAll(async () => {
    crowd = await WidgetCrowd.create();
    ({ service, tenant, widget } = crowd);
  });

  const hoursUntil = (moment: string) => (Date.parse(moment) - Date.now()) / 3_600_000;

  describe('a session', () => {
    it('lasts 24 hours, can be renewed for 90 days, and makes no contact before the first message', async () => {
      const before = (await tenant.client.all('/contacts', 200)).length;
      const { status, body } = await crowd.page(widget).open();
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
      const visitor = await crowd.visitor(widget);
      const { body: posted } = await visitor.post('first');
      const { status, body } = await visitor.open();
      expect(status).toBe(201);
      expect(body.conversationId).not.toBeNull();
      const { body: history } = await visitor.as(body.token as string).history();
      expect(history.data.map(({ id }: { id: string }) => id)).toEqual([posted.message.id]);
    });

    /** Issues the token of a session that was begun some days ago. */
    const tokenOf = async (of: TestWidget, externalId: string, days: number) => {
      const tokens = service.app.get(VisitorTokens, { strict: false });
      const issuedAt = new Date(Date.now() - days * DAY_MS);
      return (await tokens.issue(await crowd.load(of), externalId, issuedAt)).token;
    };

    it('is renewed after it has expired, for the same anonymous visitor', async () => {
      const externalId = `visitor:away-${newId()}`;
      const page = crowd.page(widget);
      const { body: posted } = await page.as(await tokenOf(widget, externalId, 0)).post('m-1');
      const old = page.as(await tokenOf(widget, externalId, 89.99));
      for (const [, call] of VISITOR_CALLS) expect((await call(old)).status).toBe(401);
      const { status, body } = await old.open();
      expect(status).toBe(201);
      expect(Math.round(hoursUntil(body.expiresAt as string))).toBe(24);
      expect(Math.round(hoursUntil(body.renewableUntil as string))).toBe(90 * 24);
      const { data } = (await page.as(body.token as string).history()).body;
      expect(data).toEqual([posted.message]);
    });

    it('is not renewed after 90 days', async () => {
      const late = crowd.page(widget).as(await tokenOf(widget, 'visitor:late', 90.01));
      const { status, body } = await late.open();
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', BAD_TOKEN));
    });

    it('of a logged-in visitor is renewed until it expires', async () => {
      const page = crowd.page(widget);
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
      expect((await crowd.page(own).as(token).open()).status).toBe(404);
      const again = await TestWidget.connect(service, workspace);
      expect((await crowd.page(again).as(token).open()).status).toBe(401);
    });

    it('lasts under another first key, while the key of its token is configured', async () => {
      const visitor = await crowd.visitor(widget);
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
        const { status, body } = await crowd.page(widget).open(JSON.parse(raw));
        expect(status).toBe(400);
        expect(body.error.code).toBe('INVALID_BODY');
      },
    );

    it('is refused for an unknown widget', async () => {
      const siteKey = 'x'.repeat(32);
      const path = `/channels/widget/${siteKey}/sessions`;
      const answer = await service.client
        .with({ origin: ORIGIN, ...crowd.newAddress() })
        .send({ method: 'POST', path, body: {} });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(errorBody('NOT_FOUND', NO_WIDGET));
    });
  });

  describe('a logged-in visitor', () => {
    const session = (id: string, of = widget) => ({ visitor: { id, signature: of.sign(id) } });

    it('is the same contact in every browser, with the given name and e-mail address', async () => {
      const known = { ...session('customer-1').visitor, name: 'Zoë Signed', email: 'zoe@example.com' };
      const first = await crowd.visitor(widget, { visitor: known });
      await first.post('a', 'From my phone');
      const second = await crowd.visitor(widget, session('customer-1'));
      expect((await second.history()).body.data).toMatchObject([{ body: 'From my phone' }]);
      expect(await crowd.contactsNamed('Zoë Signed')).toEqual([
        expect.objectContaining({
          name: 'Zoë Signed',
          email: 'zoe@example.com',
          identities: [{ channel: 'WIDGET', externalId: 'user:customer-1' }],
        }),
      ]);

      await crowd.visitor(widget, { visitor: { ...known, name: 'Zoë Renamed' } });
      expect(await crowd.contactsNamed('Zoë Renamed')).toEqual([]);
      expect(await crowd.contactsNamed('Zoë Signed')).toMatchObject([
        { email: 'zoe@example.com', verified: [] },
      ]);
    });

    it('fills what the workspace does not know, and replaces nothing that it stored', async () => {
      const stored = { name: 'Stored Name', identity: { channel: 'WIDGET', externalId: 'user:stored' } };
      await service.app.get(ContactsService).create(tenant.workspace.id, stored as CreateContact, SYSTEM);
      const claims = { ...session('stored').visitor, name: 'Mallory', email: 'own@example.com' };
      await crowd.visitor(widget, { visitor: claims });
      expect(await crowd.contactsNamed('Stored Name')).toMatchObject([
        { email: 'own@example.com', verified: [] },
      ]);
      await crowd.visitor(widget, { visitor: { ...claims, email: 'other@example.com' } });
      expect(await crowd.contactsNamed('other@example.com')).toEqual([]);
      expect(await crowd.contactsNamed('Mallory')).toEqual([]);
    });

    describe('with a JWT', () => {
      const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
      const jwtOf = (claims: JWTPayload, secret = widget.identitySecret, alg = 'HS256') =>
        new SignJWT(claims).setProtectedHeader({ alg }).sign(Buffer.from(secret));
      const openWith = (jwt: string, more: object = {}) =>
        crowd.page(widget).open({ visitor: { jwt, ...more } });

      it('is that of the signature, with what the workspace’s server has signed', async () => {
        const visitor = await crowd.visitor(widget, {
          visitor: { ...session('jwt-1').visitor, name: 'Own Words', email: 'claimed@example.com' },
        });
        await visitor.post('a', 'Before');
        const jwt = await jwtOf({ sub: 'jwt-1', exp: inSeconds(60), email: 'signed@example.com' });
        const again = await crowd.visitor(widget, {
          visitor: { jwt, name: 'Other Words', email: 'x@example.com' },
        });
        expect((await again.history()).body.data).toMatchObject([{ body: 'Before' }]);
        const contact = expect.objectContaining({
          name: 'Own Words',
          email: 'signed@example.com',
          verified: ['email'],
        });
        expect(await crowd.contactsNamed('Own Words')).toEqual([contact]);

        const named = await jwtOf({ sub: 'jwt-1', exp: inSeconds(60), name: 'Signed Words' });
        await crowd.visitor(widget, { visitor: { jwt: named } });
        expect(await crowd.contactsNamed('Signed Words')).toMatchObject([
          { email: 'signed@example.com', verified: ['email', 'name'] },
        ]);
        await crowd.visitor(widget, { visitor: { ...session('jwt-1').visitor, name: 'Mallory Words' } });
        expect(await crowd.contactsNamed('Mallory Words')).toEqual([]);
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
          // The session's own token has another key.
          (await crowd.visitor(widget, session('jwt-3'))).token!,
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
        expect(await crowd.contactsNamed('Mallory Jwt')).toEqual([]);
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
          crowd.page(widget).open({ visitor: { ...session('crowd').visitor, name: 'Crowd One' } }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
      expect(await crowd.contactsNamed('Crowd One')).toHaveLength(1);
    });

    it('is refused with a signature of another id or secret, or an invalid one', async () => {
      const other = await TestWidget.connect(service, (await createTenant(service)).workspace);
      for (const signature of [widget.sign('customer-3'), other.sign('customer-2'), '0'.repeat(64)]) {
        const visitor = { id: 'customer-2', signature, name: 'Mallory' };
        const { status, body } = await crowd.page(widget).open({ visitor });
        expect(status).toBe(401);
        expect(body.error.code).toBe('UNAUTHENTICATED');
      }
      expect(await crowd.contactsNamed('Mallory')).toEqual([]);
    });

    it('needs a new session after the identity secret has changed; an anonymous one does not', async () => {
      const { workspace } = await createTenant(service);
      const own = await TestWidget.connect(service, workspace);
      const signed = await crowd.visitor(own, session('customer-9', own));
      const anonymous = await crowd.visitor(own);
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
});
