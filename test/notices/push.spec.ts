import { generateVAPIDKeys } from 'web-push';
import { SYSTEM } from '../../src/access/principal';
import { AppError } from '../../src/common/app-error';
import { newId } from '../../src/common/ids';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { LoginsService } from '../../src/logins/logins.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { SecondFactorDemandsService } from '../../src/logins/second-factor/second-factor-demands.service';
import { PeopleService } from '../../src/logins/people.service';
import { PushAddressesService } from '../../src/notices/push/push-addresses.service';
import { PushSender } from '../../src/notices/push/push-sender';
import { PushServices } from '../../src/notices/push/push-services';
import { AddressRefused } from '../../src/outgoing/address-policy';
import { KeyRotationService } from '../../src/secrets/key-rotation.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import ssrf from '../fixtures/ssrf-examples.json';
import { DnsStub } from '../support/dns-stub';
import { expectRefusal } from '../support/errors';
import { Logins, Member, OTHER_PASSWORD, PASSWORD } from '../support/logins';
import { MessagingHost } from '../support/messaging-host';
import { PushService, Subscription } from '../support/push-service';

const VAPID = generateVAPIDKeys();
const KEYS = {
  vapidPublicKey: VAPID.publicKey,
  vapidPrivateKey: VAPID.privateKey,
  vapidContact: 'mailto:ops@example.com',
};
const HOUR_SECONDS = 3_600;
const MAX_ADDRESSES = 10;

describe('notices in browsers', () => {
  let host: MessagingHost;
  let logins: Logins;
  let push: PushService;
  let dns: DnsStub;
  let workspace: { id: string };
  let member: Member;

  beforeAll(async () => {
    dns = await DnsStub.start();
    host = await MessagingHost.create({ ...KEYS, webhookDnsServers: [dns.server] });
    logins = new Logins(host);
    push = await PushService.start();
  });
  beforeEach(async () => {
    push.answer(201);
    workspace = await host.make.workspace();
    member = await logins.member(workspace);
  });

  const notice = (id = newId()) => ({
    id,
    title: 'Zoë wrote',
    body: 'Where is my order? 📦',
    path: '/w/acme/inbox/7',
  });
  const send = (sent = notice(), { tenantId, id } = member.agent, by = host) =>
    by
      .get(PushSender)
      .send(tenantId, id, sent)
      .then(({ taken }) => taken);
  const set = (of: Pick<Member, 'holder'>, subscription: Subscription, by = host) =>
    by.get(PushAddressesService).set(of.holder, subscription);
  const subscribe = async (of: Pick<Member, 'holder'> = member): Promise<Subscription> => {
    const subscription = push.subscribe();
    await set(of, subscription);
    return subscription;
  };
  /** Returns the field of which the refusal of a subscription tells. */
  const refusedField = async (subscription: Subscription, by = host): Promise<string | undefined> => {
    const refusal = (await set(member, subscription, by).catch((error: unknown) => error)) as AppError;
    expect(refusal).toMatchObject({ code: 'INVALID_BODY' });
    expect(await rowsOf()).toEqual([]);
    return refusal.details?.[0]?.field;
  };
  const isOn = async ({ holder }: Pick<Member, 'holder'> = member) =>
    (await host.get(PushAddressesService).getState(holder)).isOn;
  const rowsOf = ({ personId } = member) =>
    host.query<{ lastOkAt: Date | null }>(
      'SELECT last_ok_at AS "lastOkAt" FROM push_addresses WHERE person_id = $1',
      [personId],
    );

  describe('are pushed', () => {
    it('encrypted to each browser in which the agent is logged in, and to no other', async () => {
      const [first, second] = [await subscribe(), await subscribe(await logins.session(member))];
      const colleague = await subscribe(await logins.member(workspace));
      const sent = notice();
      expect(await send(sent)).toBe(2);
      for (const subscription of [first, second])
        expect(push.receivedBy(subscription).map(({ content }) => content)).toEqual([sent]);
      expect(push.receivedBy(colleague)).toEqual([]);
      expect((await rowsOf()).map(({ lastOkAt }) => lastOkAt)).toEqual([expect.any(Date), expect.any(Date)]);
    });

    it('to the other browsers if the encryption key of one is not configured', async () => {
      await subscribe();
      const session = await logins.session(member);
      const readable = await subscribe(session);
      await host.query(
        'UPDATE push_addresses SET address_key_id = $2 WHERE person_id = $1 AND session_id <> $3',
        [member.personId, 'gone', session.holder.sessionId],
      );
      const { tenantId, id } = member.agent;
      expect(await host.get(PushSender).send(tenantId, id, notice())).toEqual({ taken: 1, failed: 1 });
      expect(push.receivedBy(readable)).toHaveLength(1);
      // A rotation of keys would refuse the row.
      await host.query('DELETE FROM push_addresses WHERE person_id = $1', [member.personId]);
    });

    it('signed with the configured keys, and dropped after some hours', async () => {
      const subscription = await subscribe();
      await send();
      const [received] = push.receivedBy(subscription);
      expect(received!.headers).toMatchObject({
        'content-encoding': 'aes128gcm',
        ttl: String(4 * HOUR_SECONDS),
        urgency: 'normal',
      });
      const claims = await push.claimsOf(received!, VAPID.publicKey);
      expect(claims).toMatchObject({ aud: push.origin, sub: 'mailto:ops@example.com' });
    });

    it('under one topic each, so that one that is repeated replaces itself', async () => {
      const subscription = await subscribe();
      const sent = notice();
      await send(sent);
      await send({ ...sent, body: 'Again' });
      await send();
      const topics = push.receivedBy(subscription).map(({ headers }) => headers['topic'] as string);
      expect(topics[0]).toMatch(/^[\w-]{1,32}$/);
      expect(topics[1]).toBe(topics[0]);
      expect(topics[2]).not.toBe(topics[0]);
    });

    it('with long texts cut, so that every push service takes them', async () => {
      const subscription = await subscribe();
      const long = { ...notice(), title: '📦'.repeat(1_000), body: '"\\\n'.repeat(5_000) };
      expect(await send(long)).toBe(1);
      const [{ content, headers }] = push.receivedBy(subscription) as [any];
      expect(Number(headers['content-length'])).toBeLessThanOrEqual(4_096);
      expect(content.title).toBe(`${'📦'.repeat(99)}…`);
      expect([...content.body]).toHaveLength(400);
    });

    it('to no agent of another workspace under the same id', async () => {
      const subscription = await subscribe();
      const other = await host.make.workspace();
      expect(await send(notice(), { ...member.agent, tenantId: other.id })).toBe(0);
      expect(push.receivedBy(subscription)).toEqual([]);
    });

    it('for each workspace of the person', async () => {
      const second = await host.make.workspace();
      const agent = await logins.join(member, second);
      member = { ...member, holder: { personId: member.personId, sessionId: member.sessionId } };
      await subscribe();
      expect([await send(), await send(notice(), agent)]).toEqual([1, 1]);
    });

    it('to nobody for an agent without a login', async () => {
      expect(await send(notice(), await host.make.agent(workspace))).toBe(0);
    });
  });

  describe('end', () => {
    const ENDS: Record<string, () => Promise<unknown>> = {
      'a logout': () => host.get(LoginsService).logOut(member.holder),
      'the end of the session by another one': async () => {
        const other = await logins.session(member);
        await host.get(LoginsService).revokeSession(other.holder, member.sessionId);
      },
      'a new password by a link': async () => {
        const other = await logins.session(member);
        const input = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
        await host.get(PasswordsService).change(other.holder, input);
      },
      'the erasure of the agent': async () => {
        const { tenantId, id } = member.agent;
        await host.get(AgentsService).update(tenantId, id, { active: false }, SYSTEM);
        await host.get(AgentErasuresService).erase(tenantId, id, SYSTEM);
      },
    };

    it.each(Object.keys(ENDS))('with %s, and no row is left', async (name) => {
      await logins.member(workspace, { role: 'OWNER' });
      const subscription = await subscribe();
      expect(await rowsOf()).toHaveLength(1);
      await ENDS[name]!();
      expect(await rowsOf()).toEqual([]);
      expect(await send()).toBe(0);
      expect(push.receivedBy(subscription)).toEqual([]);
    });

    it('with an expired session', async () => {
      const subscription = await subscribe();
      await host.query('UPDATE login_sessions SET expires_at = now() WHERE id = $1', [member.sessionId]);
      expect(await send()).toBe(0);
      await host.query('DELETE FROM login_sessions WHERE expires_at <= now()');
      expect(await rowsOf()).toEqual([]);
      expect(push.receivedBy(subscription)).toEqual([]);
    });

    it('while the agent is inactive, in that workspace alone', async () => {
      await logins.member(workspace, { role: 'OWNER' });
      const other = await host.make.workspace();
      const elsewhere = await logins.join(member, other);
      await set({ holder: { personId: member.personId, sessionId: member.sessionId } }, push.subscribe());
      const { tenantId, id } = member.agent;
      await host.get(AgentsService).update(tenantId, id, { active: false }, SYSTEM);
      expect([await send(), await send(notice(), elsewhere)]).toEqual([0, 1]);
    });

    it('while the workspace refuses a person without a second factor', async () => {
      await subscribe();
      const owner = await logins.secure(await logins.member(workspace, { role: 'OWNER' }));
      const actor = { type: 'agent', id: owner.agent.id } as const;
      await host.get(SecondFactorDemandsService).demand(workspace.id, { graceDays: 0 }, actor);
      expect(await send()).toBe(0);
    });

    it('when the person turns them off', async () => {
      await subscribe();
      expect(await isOn()).toBe(true);
      await host.get(PushAddressesService).delete(member.holder);
      expect([await isOn(), await send()]).toEqual([false, 0]);
    });
  });

  describe('at a push service', () => {
    it.each([404, 410])('that answers %i lose their address', async (status) => {
      const [gone, kept] = [await subscribe(), await logins.session(member)];
      await subscribe(kept);
      push.receiver.respond = (response, { path }) =>
        response.writeHead(gone.endpoint.endsWith(path) ? status : 201).end();
      expect(await send()).toBe(1);
      expect(await rowsOf()).toHaveLength(1);
      expect([await isOn(), await isOn(kept)]).toEqual([false, true]);
    });

    it.each([400, 401, 403, 413, 429, 500, 503])(
      'that answers %i are tried again by the caller',
      async (status) => {
        const subscription = await subscribe();
        push.answer(status);
        expect(await send()).toBe(0);
        push.answer(201);
        expect(await send()).toBe(1);
        expect(push.receivedBy(subscription)).toHaveLength(2);
      },
    );

    it.each([301, 302, 307, 308])('that redirects (%i) go nowhere else', async (status) => {
      const [subscription, other] = [await subscribe(), push.subscribe()];
      push.answer(status, { location: other.endpoint });
      expect(await send()).toBe(0);
      expect(push.receivedBy(subscription)).toHaveLength(1);
      expect(push.receivedBy(other)).toEqual([]);
      expect(await rowsOf()).toHaveLength(1);
    });

    it('that sends an endless body count by its status, and the connection ends', async () => {
      await subscribe();
      const closed = new Promise((resolve) => {
        push.receiver.respond = (response) => {
          response.writeHead(201);
          const pour = () => {
            while (response.write(Buffer.alloc(65_536)));
          };
          response.on('drain', pour).once('close', resolve);
          pour();
        };
      });
      expect(await send()).toBe(1);
      await closed;
    });

    it('that sends an endless head, or another protocol, fail', async () => {
      await subscribe();
      push.receiver.respond = (response) => {
        const socket = response.socket!;
        socket.write('HTTP/1.1 201 Created\r\n');
        const pour = () => {
          while (socket.write(`x: ${'y'.repeat(4_096)}\r\n`));
        };
        socket.on('drain', pour);
        pour();
      };
      expect(await send()).toBe(0);
      push.receiver.respond = (response) =>
        response.socket!.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
      expect(await send()).toBe(0);
      push.receiver.respond = (response) => response.socket!.destroy();
      expect(await send()).toBe(0);
    });

    it('that hangs are given up, while another browser gets its own', async () => {
      const [silent, quick] = [await subscribe(), await subscribe(await logins.session(member))];
      push.receiver.respond = (response, { path }) => {
        if (quick.endpoint.endsWith(path)) response.writeHead(201).end();
      };
      expect(await send()).toBe(1);
      expect(push.receivedBy(silent)).toHaveLength(1);
      expect(await rowsOf()).toHaveLength(2);
    }, 30_000);
  });

  describe('reach public addresses alone', () => {
    const literal = (ip: string) => `https://${ip.includes(':') ? `[${ip}]` : ip}/push`;
    const REFUSED = [...ssrf.refuse_url_literal, ...ssrf.refuse_url_form, ...ssrf.refuse_ip.map(literal)];
    let strict: MessagingHost;

    beforeAll(async () => {
      strict = await MessagingHost.create({
        ...KEYS,
        beside: host,
        webhookAllowedNetworks: [],
        webhookDnsServers: [dns.server],
      });
    });

    it.each(REFUSED)('so that %s is refused as an address', async (endpoint) => {
      expect(await refusedField({ ...push.subscribe(), endpoint }, strict)).toBe('endpoint');
    });

    it('also where an address was stored before a network was forbidden', async () => {
      const subscription = await subscribe();
      expect(await send(notice(), member.agent, strict)).toBe(0);
      expect(push.receivedBy(subscription)).toEqual([]);
      expect(await send()).toBe(1);
    });

    it.each(ssrf.refuse_ip)('so that nothing is sent to a name with the address %s', async (ip) => {
      const name = `push-${ssrf.refuse_ip.indexOf(ip)}.example.com`;
      dns.set(name, ip.includes(':') ? { A: ['1.1.1.1'], AAAA: [ip] } : { A: ['1.1.1.1', ip] });
      const subscription = { ...push.subscribe(), endpoint: `https://${name}/push` };
      await set(member, subscription, strict);
      expect(await send(notice(), member.agent, strict)).toBe(0);
      await expect(strict.get(PushServices).post(subscription, notice())).rejects.toThrow(AddressRefused);
    });
  });

  describe('have addresses', () => {
    it('of which a session has one, and a browser one', async () => {
      const subscription = await subscribe();
      const later = await subscribe();
      expect(await send()).toBe(1);
      expect([push.receivedBy(subscription), push.receivedBy(later)].map(({ length }) => length)).toEqual([
        0, 1,
      ]);
      // Another person logs in at the same browser.
      const other = await logins.member(workspace);
      await set(other, later);
      expect([await isOn(), await isOn(other)]).toEqual([false, true]);
      expect([await send(), await send(notice(), other.agent)]).toEqual([0, 1]);
    });

    it('of which a person has ten, and a further one replaces the oldest', async () => {
      const oldest = await subscribe();
      for (let n = 0; n < MAX_ADDRESSES; n++) await subscribe(await logins.session(member));
      expect(await rowsOf()).toHaveLength(MAX_ADDRESSES);
      expect(await send()).toBe(MAX_ADDRESSES);
      expect(push.receivedBy(oldest)).toEqual([]);
    });

    it('which no row shows, and a new key encrypts again', async () => {
      const { endpoint, p256dh, auth } = await subscribe();
      const [row] = await host.query<{ text: string }>(
        `SELECT a::text || encode(address_ciphertext, 'escape') AS text FROM push_addresses a WHERE person_id = $1`,
        [member.personId],
      );
      for (const secret of [endpoint, new URL(endpoint).pathname, p256dh, auth])
        expect(row!.text).not.toContain(secret);
      const keys = ['new', 'test'].map((id, n) => `${id}:${Buffer.alloc(32, 6 + n).toString('base64')}`);
      const rekeyed = await MessagingHost.create({ ...KEYS, beside: host, secretsKeys: keys.join() });
      await rekeyed.get(KeyRotationService).reencrypt({ type: 'operator', name: 'lin' });
      expect(await host.query('SELECT FROM push_addresses WHERE address_key_id <> $1', ['new'])).toEqual([]);
      expect(await send(notice(), member.agent, rekeyed)).toBe(1);
      await host.query('DELETE FROM push_addresses');
      await rekeyed.close();
    });

    it('which the export of a person names without secrets', async () => {
      await subscribe();
      await send();
      const { others } = await host.get(PeopleService).export(member.holder);
      const { sessionId } = member;
      const row = { sessionId, createdAt: expect.any(Date), lastOkAt: expect.any(Date) };
      expect(others).toEqual({ pushAddresses: [row] });
    });

    it.each([
      ['p256dh', 'AAAA'],
      ['p256dh', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url')],
      ['auth', 'AAAA'],
      ['auth', '!'.repeat(22)],
    ])('with keys that encrypt: no %s such as %s', async (field, value) => {
      expect(await refusedField({ ...push.subscribe(), [field]: value })).toBe(field);
    });

    it('in active sessions alone', async () => {
      await host.get(LoginsService).logOut(member.holder);
      await expectRefusal(set(member, push.subscribe()), 'UNAUTHENTICATED');
    });
  });

  it('are not offered without keys', async () => {
    const keyless = await MessagingHost.create({ beside: host });
    await subscribe();
    const addresses = keyless.get(PushAddressesService);
    expect(await addresses.getState(member.holder)).toEqual({ publicKey: null, isOn: false });
    await expectRefusal(addresses.set(member.holder, push.subscribe()), 'NOT_FOUND');
    await expectRefusal(addresses.test(member.holder, { locale: 'en' }), 'NOT_FOUND');
    expect(await send(notice(), member.agent, keyless)).toBe(0);
    await keyless.close();
  });
});
