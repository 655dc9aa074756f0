import { Client } from 'pg';
import { AuditTally } from '../../src/audit/audit-tally';
import { SYSTEM } from '../../src/access/principal';
import { LoggedIn, LogIn } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { PeopleService } from '../../src/logins/people.service';
import { WorkBudgets } from '../../src/http/limits/work-budgets';
import { networkOf } from '../../src/http/connections/client-network';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { countLockWaits } from '../support/lock-waits';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { Logins, Member, PASSWORD } from '../support/logins';
import { waitFor } from '../support/wait';

const NOBODY = { email: 'nobody@example.com' };
const WRONG = 'Some other password';

describe('logins', () => {
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string };
  let member: Member;

  beforeAll(async () => {
    host = await MessagingHost.create();
    logins = new Logins(host);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    member = await logins.member(workspace);
  });

  const sessions = () => host.get(LoginsService);
  const entries = (action: string) =>
    host.query(
      `SELECT action, entity_id AS "entityId", actor_type AS "actorType", actor_id AS "actorId", address, metadata
       FROM audit_entries WHERE tenant_id = $1 AND action = $2 ORDER BY id`,
      [workspace.id, action],
    );

  describe('with a password', () => {
    it('open a session, and tell the workspace', async () => {
      const before = (await entries('agent.logged_in')).length;
      const loggedIn = (await logins.logIn(member, PASSWORD, {
        origin: { address: '203.0.113.9', userAgent: 'Chrome' },
      })) as LoggedIn;
      expect(loggedIn).toEqual({
        status: 'logged_in',
        personId: member.personId,
        sessionId: expect.any(String),
        token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        browserToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      });
      expect(await logins.authenticate(loggedIn.token)).toMatchObject({
        person: { id: member.personId, email: member.email },
        session: { id: loggedIn.sessionId, address: '203.0.113.9', userAgent: 'Chrome' },
      });
      const written = await entries('agent.logged_in');
      expect(written).toHaveLength(before + 1);
      expect(written.at(-1)).toMatchObject({
        entityId: member.agent.id,
        actorType: 'agent',
        actorId: member.agent.id,
        address: '203.0.113.9',
      });
    });

    it('tell every workspace of the person, each of its own agent', async () => {
      const second = await host.make.workspace();
      const agent = await logins.join(member, second);
      await logins.logIn(member);
      const rows = await host.query(
        `SELECT tenant_id AS tenant, entity_id AS agent FROM audit_entries
         WHERE action = 'agent.logged_in' AND tenant_id = ANY ($1) ORDER BY id DESC LIMIT 2`,
        [[workspace.id, second.id]],
      );
      expect(rows).toHaveLength(2);
      expect(rows).toContainEqual({ tenant: workspace.id, agent: member.agent.id });
      expect(rows).toContainEqual({ tenant: second.id, agent: agent.id });
    });

    it('answer alike, whether the e-mail address is unknown or the password wrong', async () => {
      const outcomes = await Promise.all(
        [member, NOBODY].map((who) => logins.logIn(who, WRONG).catch((error: unknown) => error)),
      );
      expect(outcomes[0]).toEqual(outcomes[1]);
      expect(outcomes[0]).toMatchObject({
        code: 'UNAUTHENTICATED',
        message: 'The e-mail address or the password is wrong.',
      });
    });

    it('hash as much for an unknown e-mail address', async () => {
      const origin = logins.origin();
      const budgets = host.get(WorkBudgets);
      const network = networkOf(origin.address!);
      // These take the slot of this network and its whole line, so that further logins are refused.
      const held = await budgets.acquire('passwords', network);
      const line = Array.from({ length: 20 }, () => budgets.acquire('passwords', network));
      for (const who of [member, NOBODY])
        await expect(logins.logIn(who, WRONG, { origin })).rejects.toMatchObject({
          code: 'RATE_LIMITED',
          message: expect.stringContaining('at once'),
        });
      // Another network is not affected.
      expect(await logins.logIn(member)).toMatchObject({ status: 'logged_in' });
      held();
      for (const waiting of line) (await waiting)();
    });

    it('take a password however its characters are composed', async () => {
      expect(await logins.logIn(member, PASSWORD.normalize('NFD'))).toMatchObject({ status: 'logged_in' });
    });

    it('store the password as argon2id of 19 MiB, and no token at all', async () => {
      const { token, browserToken } = (await logins.logIn(member)) as LoggedIn;
      const [row] = await host.query<{ hash: string; rows: string }>(
        `SELECT p.password_hash AS hash, p::text || array_agg(s::text)::text || array_agg(b::text)::text AS rows
         FROM people p JOIN login_sessions s ON s.person_id = p.id JOIN known_browsers b ON b.person_id = p.id
         WHERE p.id = $1 GROUP BY p.id`,
        [member.personId],
      );
      expect(row!.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      for (const secret of [token, browserToken!])
        for (const form of [secret, Buffer.from(secret, 'base64url').toString('hex')])
          expect(row!.rows).not.toContain(form);
    });

    it.each([
      ['without a password', { email: 'a@b.c' }],
      ['with a number', { email: 'a@b.c', password: 1 }],
      ['with a list', { email: ['a@b.c'], password: PASSWORD }],
      ['that is endless', { email: 'x'.repeat(1_001), password: PASSWORD }],
      ['with an unknown field', { email: 'a@b.c', password: PASSWORD, admin: true }],
    ])('refuse input %s', async (_, input) => {
      const asked = host.get(LoginsService).logIn(input as unknown as LogIn, logins.origin());
      await expectRefusal(asked, 'INVALID_BODY');
    });

    it('are counted in the audit log when they fail, and write nothing meanwhile', async () => {
      for (let n = 0; n < 3; n++) await expectRefusal(logins.logIn(member, WRONG), 'UNAUTHENTICATED');
      expect(await entries('agent.login_failed')).toEqual([]);
      await host.get(AuditTally).flush();
      expect(await entries('agent.login_failed')).toMatchObject([
        { entityId: member.agent.id, actorType: 'system', metadata: { count: 3 } },
      ]);
    });

    it('work for somebody without a workspace, who may join another', async () => {
      await host.make.agent(workspace);
      await host.get(AgentsService).update(workspace.id, member.agent.id, { active: false }, SYSTEM);
      const { token } = (await logins.logIn(member)) as LoggedIn;
      expect((await logins.authenticate(token))!.memberships).toEqual([]);
    });
  });

  describe('sessions', () => {
    it('are refused at once when the agent, its role or the workspace changes', async () => {
      await host.make.agent(workspace);
      const memberships = async () => (await logins.authenticate(member.token))!.memberships;
      const update = (changes: object) =>
        host.get(AgentsService).update(workspace.id, member.agent.id, changes, SYSTEM);
      await update({ role: 'AGENT' });
      expect(await memberships()).toMatchObject([{ role: 'AGENT' }]);
      await host.get(WorkspacesService).suspend(workspace.id, SYSTEM);
      expect(await memberships()).toMatchObject([{ workspace: { isSuspended: true } }]);
      await update({ active: false });
      expect(await memberships()).toEqual([]);
      await update({ active: true });
      expect(await memberships()).toHaveLength(1);
    });

    it.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44), 'Ä'.repeat(43), '\0'])(
      'have no token %j',
      async (token) => {
        expect(await logins.authenticate(token)).toBeNull();
      },
    );

    it('end after 12 idle hours', async () => {
      const age = (hours: number) =>
        host.query(
          // Without time zones: Citus takes no function of a column that depends on the session's.
          `UPDATE login_sessions SET
             last_used_at = (last_used_at AT TIME ZONE 'UTC' - $2 * interval '1 hour') AT TIME ZONE 'UTC',
             expires_at = (expires_at AT TIME ZONE 'UTC' - $2 * interval '1 hour') AT TIME ZONE 'UTC'
           WHERE id = $1`,
          [member.sessionId, hours],
        );
      await age(11);
      expect(await logins.isOpen(member.token)).toBe(true);
      // The call was a use, which extends the session: 12 hours from now again.
      await waitFor('the use to be recorded', async () => {
        const [session] = await sessions().listSessions(member.holder);
        return session!.expiresAt.getTime() - Date.now() > 11.9 * 3_600_000;
      });
      await age(12);
      expect(await logins.isOpen(member.token)).toBe(false);
      expect(await sessions().listSessions(member.holder)).toEqual([]);
    });

    it('end 30 days after the login, however they are used', async () => {
      await host.query(
        `UPDATE login_sessions SET created_at = now() - interval '30 days' + interval '1 hour',
           last_used_at = now() - interval '2 minutes' WHERE id = $1`,
        [member.sessionId],
      );
      const end = await waitFor('the use to be recorded', async () => {
        const opened = await logins.authenticate(member.token);
        const { lastUsedAt, expiresAt } = opened!.session;
        return Date.now() - lastUsedAt.getTime() < 60_000 && expiresAt;
      });
      expect(end.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000);
    });

    it('write their last use once a minute at most', async () => {
      const version = async () =>
        (
          await host.query('SELECT xmin::text AS version FROM login_sessions WHERE id = $1', [
            member.sessionId,
          ])
        )[0];
      const before = await version();
      for (let n = 0; n < 5; n++) await logins.isOpen(member.token);
      await sessions().listSessions(member.holder);
      expect(await version()).toEqual(before);
    });

    it('are listed, revoked one by one, or all others', async () => {
      const [second, third] = [await logins.session(member), await logins.session(member)];
      const listed = await sessions().listSessions(member.holder);
      expect(listed.map(({ id }) => id)).toEqual([third.sessionId, second.sessionId, member.sessionId]);
      await sessions().revokeSession(member.holder, second.sessionId);
      expect(await logins.isOpen(second.token)).toBe(false);
      await expectRefusal(sessions().revokeSession(member.holder, second.sessionId), 'NOT_FOUND');
      expect(await sessions().revokeOtherSessions(member.holder)).toEqual({ revoked: 1 });
      expect(await logins.isOpen(third.token)).toBe(false);
      expect(await logins.isOpen(member.token)).toBe(true);
      expect(await sessions().revokeOtherSessions(member.holder)).toEqual({ revoked: 0 });
    });

    it('of others are not found', async () => {
      const other = await logins.member(workspace);
      await expectRefusal(sessions().revokeSession(member.holder, other.sessionId), 'NOT_FOUND');
      await expectRefusal(sessions().revokeSession(member.holder, 'nope'), 'NOT_FOUND');
      expect(await logins.isOpen(other.token)).toBe(true);
      const foreign = { ...member.holder, sessionId: other.sessionId };
      await expectRefusal(sessions().revokeOtherSessions(foreign), 'UNAUTHENTICATED');
    });

    it('end with a log-out', async () => {
      await sessions().logOut(member.holder);
      expect(await logins.isOpen(member.token)).toBe(false);
      await expectRefusal(sessions().logOut(member.holder), 'UNAUTHENTICATED');
      expect(await entries('agent.logged_out')).toHaveLength(1);
    });

    it('commit nothing any more, once their revocation is answered', async () => {
      const second = await logins.session(member);
      const lock = await lockPerson();
      const revocation = sessions().revokeSession(member.holder, second.sessionId);
      await waitFor('the revocation to wait', async () => (await waiters()) === 1);
      // The change began while the session was open; the revocation commits first.
      const change = host.get(PeopleService).update(second.holder, { name: 'Too late' });
      await waitFor('the change to wait', async () => (await waiters()) === 2);
      await lock.query('COMMIT');
      await lock.end();
      await revocation;
      await expectRefusal(change, 'UNAUTHENTICATED');
      expect((await host.get(PeopleService).get(member)).name).not.toBe('Too late');
    });

    it('are 100 of one person at most: the oldest go', async () => {
      await host.query(
        `INSERT INTO login_sessions (id, person_id, hash, created_at, last_used_at, expires_at)
         SELECT (left($1, 24) || lpad(n::text, 12, '0'))::uuid, $2::uuid, sha256(($2::uuid::text || n)::bytea), now(), now(),
                now() + interval '1 hour'
         FROM generate_series(1, 120) AS n`,
        [member.sessionId, member.personId],
      );
      const last = await logins.session(member);
      const [row] = await host.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM login_sessions WHERE person_id = $1',
        [member.personId],
      );
      expect(row!.count).toBe(100);
      expect(await logins.isOpen(last.token)).toBe(true);
    });
  });

  describe('people', () => {
    it('change their name, language and theme, and nothing else', async () => {
      const people = host.get(PeopleService);
      const changes = { name: 'Ana María', locale: 'de' as const, theme: 'dark' as const };
      expect(await people.update(member.holder, changes)).toMatchObject(changes);
      expect(await people.update(member.holder, { locale: null })).toMatchObject({
        ...changes,
        locale: null,
      });
      expect((await logins.authenticate(member.token))!.person).toMatchObject({
        name: 'Ana María',
        theme: 'dark',
      });
      for (const bad of [{ name: ' ' }, { locale: 'fr' }, { theme: 'blue' }, { email: 'x@example.com' }])
        await expectRefusal(people.update(member.holder, bad as object), 'INVALID_BODY');
      await expectRefusal(people.get({ personId: workspace.id }), 'NOT_FOUND');
    });
  });

  /** Locks the person on a connection of its own, as any change of the login does. */
  async function lockPerson(): Promise<Client> {
    const lock = new Client({ connectionString: host.stores.databaseUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM people WHERE id = $1 FOR UPDATE', [member.personId]);
    return lock;
  }

  const waiters = () => countLockWaits(host);
});
