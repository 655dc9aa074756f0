import { KeyRotationService } from '../../src/secrets/key-rotation.service';
import { AuditTally } from '../../src/audit/audit-tally';
import { Actor, SYSTEM } from '../../src/access/principal';
import { SecondFactorDemandsService } from '../../src/logins/second-factor/second-factor-demands.service';
import { LoggedIn, Membership, SecondFactorRequired } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { SecondFactorsService } from '../../src/logins/second-factor/second-factors.service';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { codeOf, Logins, Member, OTHER_PASSWORD, PASSWORD, withinStep } from '../support/logins';

const WRONG_CODE = { code: 'INVALID_BODY', details: [{ field: 'code' }] };

describe('second factors', () => {
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string };
  let member: Member;

  beforeAll(async () => {
    host = await MessagingHost.create({ appUrl: 'https://app.example.com' });
    logins = new Logins(host);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    member = await logins.member(workspace);
  });

  const factors = () => host.get(SecondFactorsService);
  const begin = () => factors().begin(member.holder, { password: PASSWORD });
  const beginLogin = async (who: { email: string } = member) =>
    (await logins.logIn(who)) as SecondFactorRequired;
  const confirm = ({ pendingToken }: SecondFactorRequired, code: string) =>
    host.get(LoginsService).confirmSecondFactor({ pendingToken, code }, logins.origin());
  const actions = async () =>
    (
      await host.query<{ action: string }>(
        `SELECT action FROM audit_entries WHERE tenant_id = $1 AND action LIKE 'agent.%' ORDER BY id`,
        [workspace.id],
      )
    ).map(({ action }) => action);

  it('are on once a code of the new secret has come, under a new token', async () => {
    const other = await logins.session(member);
    const { secret, uri } = await begin();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const parsed = new URL(uri);
    expect(parsed.protocol).toBe('otpauth:');
    expect(decodeURIComponent(parsed.pathname)).toContain(`app.example.com:${member.email}`);
    expect(Object.fromEntries(parsed.searchParams)).toMatchObject({
      secret,
      issuer: 'app.example.com',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    // A second factor has no effect before it is confirmed.
    expect(await logins.logIn(member)).toMatchObject({ status: 'logged_in' });
    await expect(factors().confirm(member.holder, { code: '000000' })).rejects.toMatchObject(WRONG_CODE);

    const { recoveryCodes, token } = await factors().confirm(member.holder, { code: codeOf(secret) });
    expect(recoveryCodes).toHaveLength(10);
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^([a-z2-9]{4}-){3}[a-z2-9]{4}$/);
    expect(await logins.isOpen(other.token)).toBe(false);
    expect(await logins.isOpen(member.token)).toBe(false);
    expect(await logins.authenticate(token)).toMatchObject({ person: { hasSecondFactor: true } });
    expect(await logins.logIn(member)).toMatchObject({ status: 'second_factor_required' });
    await expectRefusal(begin(), 'INVALID_BODY');
  });

  it('need the password to begin', async () => {
    await expect(factors().begin(member.holder, { password: OTHER_PASSWORD })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'password' }],
    });
    await expect(factors().confirm(member.holder, { code: '123456' })).rejects.toMatchObject(WRONG_CODE);
  });

  it('replace a secret that was never confirmed', async () => {
    const first = await begin();
    const second = await begin();
    await expect(factors().confirm(member.holder, { code: codeOf(first.secret) })).rejects.toMatchObject(
      WRONG_CODE,
    );
    expect(await factors().confirm(member.holder, { code: codeOf(second.secret) })).toMatchObject({
      recoveryCodes: expect.any(Array),
    });
  });

  describe('at a login', () => {
    it('open a session with a code, which is good once', async () => {
      const secured = await logins.secure(member);
      const pending = await beginLogin();
      expect(pending.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(300_000);
      // Between password and code there is no session.
      expect(await logins.authenticate(pending.pendingToken)).toBeNull();
      const code = codeOf(secured.secret);
      const loggedIn = await confirm(pending, code);
      expect(await logins.isOpen(loggedIn.token)).toBe(true);
      await expectRefusal(confirm(pending, codeOf(secured.secret, 1)), 'UNAUTHENTICATED');
      await expectRefusal(confirm(await beginLogin(), code), 'UNAUTHENTICATED');
    });

    it('open one session, when a code is used twice at once', async () => {
      const { secret } = await logins.secure(member);
      const [first, second] = [await beginLogin(), await beginLogin()];
      const code = codeOf(secret);
      const outcomes = await Promise.allSettled([
        confirm(first, code),
        confirm(second, code),
        confirm(first, code),
      ]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('open one session, when a pending login is confirmed with two codes at once', async () => {
      const { recoveryCodes } = await logins.secure(member);
      const pending = await beginLogin();
      const outcomes = await Promise.allSettled(
        recoveryCodes.slice(0, 3).map((code) => confirm(pending, code)),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      // The codes of other people were not used up.
      const left = await host.query('SELECT FROM recovery_codes WHERE person_id = $1', [member.personId]);
      expect(left).toHaveLength(9);
    });

    it('take the code of the step before and after, and no other', async () => {
      const { secret } = await logins.secure(member);
      const pending = await beginLogin();
      await withinStep();
      await expectRefusal(confirm(pending, codeOf(secret, -3)), 'UNAUTHENTICATED');
      await expectRefusal(confirm(pending, codeOf(secret, 3)), 'UNAUTHENTICATED');
      await confirm(pending, codeOf(secret, -1));
      await confirm(await beginLogin(), codeOf(secret, 1));
      // This code belongs to an earlier step than the last one that was used.
      await expectRefusal(confirm(await beginLogin(), codeOf(secret, 0)), 'UNAUTHENTICATED');
    });

    it('take a recovery code once, however it is typed', async () => {
      const { recoveryCodes } = await logins.secure(member);
      await confirm(await beginLogin(), recoveryCodes[0]!.toUpperCase().replaceAll('-', ' '));
      await expectRefusal(confirm(await beginLogin(), recoveryCodes[0]!), 'UNAUTHENTICATED');
      await confirm(await beginLogin(), recoveryCodes[1]!);
      expect((await actions()).filter((action) => action === 'agent.recovery_code_used')).toHaveLength(2);
    });

    it('end after five minutes', async () => {
      const { secret } = await logins.secure(member);
      const pending = await beginLogin();
      await host.query('UPDATE pending_logins SET expires_at = now() WHERE person_id = $1', [
        member.personId,
      ]);
      await expectRefusal(confirm(pending, codeOf(secret)), 'UNAUTHENTICATED');
    });

    it('know the browser afterwards, not before', async () => {
      const { secret } = await logins.secure(member);
      const pending = await beginLogin();
      expect(pending).not.toHaveProperty('browserToken');
      const loggedIn: LoggedIn = await confirm(pending, codeOf(secret));
      expect(loggedIn.browserToken).toEqual(expect.any(String));
    });

    it('count wrong codes in the audit log', async () => {
      await logins.secure(member);
      const pending = await beginLogin();
      for (const code of ['000000', 'abcd-efgh'])
        await expectRefusal(confirm(pending, code), 'UNAUTHENTICATED');
      await host.get(AuditTally).flush();
      expect(await actions()).toContain('agent.code_failed');
    });

    it.each(['', 'x', 'A'.repeat(43)])('do not know the pending token %j', async (pendingToken) => {
      const asked = host
        .get(LoginsService)
        .confirmSecondFactor({ pendingToken, code: '123456' }, logins.origin());
      await expectRefusal(asked, 'UNAUTHENTICATED');
    });
  });

  describe('go off', () => {
    it('with the password and a code, and take everything with them', async () => {
      const secured = await logins.secure(member);
      const turnOff = (password: string, code: string) =>
        factors().turnOff(secured.holder, { password, code });
      await expect(turnOff(OTHER_PASSWORD, codeOf(secured.secret))).rejects.toMatchObject({
        details: [{ field: 'password' }],
      });
      await expect(turnOff(PASSWORD, '000000')).rejects.toMatchObject(WRONG_CODE);
      const { token } = await turnOff(PASSWORD, codeOf(secured.secret));
      expect(await logins.isOpen(secured.token)).toBe(false);
      expect(await logins.authenticate(token)).toMatchObject({ person: { hasSecondFactor: false } });
      for (const table of ['second_factors', 'recovery_codes'])
        expect(await host.query(`SELECT FROM ${table} WHERE person_id = $1`, [member.personId])).toEqual([]);
      expect(await logins.logIn(member)).toMatchObject({ status: 'logged_in' });
      await expectRefusal(turnOff(PASSWORD, '123456'), 'INVALID_BODY');
      expect(await actions()).toEqual(
        expect.arrayContaining(['agent.second_factor_turned_on', 'agent.second_factor_turned_off']),
      );
    });

    it('with a recovery code instead', async () => {
      const { recoveryCodes, holder } = await logins.secure(member);
      expect(await factors().turnOff(holder, { password: PASSWORD, code: recoveryCodes[3]! })).toEqual({
        token: expect.any(String),
      });
    });
  });

  describe('that a workspace demands', () => {
    const demand = (graceDays?: number, actor: Actor = SYSTEM) =>
      host.get(SecondFactorDemandsService).demand(workspace.id, { graceDays }, actor);
    /** Lets days pass. */
    const age = async (days: number) => {
      for (const [table, column] of [
        ['second_factor_demands', 'demanded_at'],
        ['memberships', 'created_at'],
      ])
        await host.query(
          // Without time zones: Citus takes no function of a column that depends on the session's.
          `UPDATE ${table} SET ${column} = (${column} AT TIME ZONE 'UTC' - make_interval(days => $2)) AT TIME ZONE 'UTC'
           WHERE tenant_id = $1`,
          [workspace.id, days],
        );
    };
    const opened = async ({ token }: { token: string }) => (await logins.authenticate(token))!;
    const idsOf = (memberships: Membership[]) => memberships.map((one) => one.workspace.id);

    it('lock out who has none, when the days of grace are over', async () => {
      const elsewhere = await host.make.workspace();
      await logins.join(member, elsewhere);
      expect((await opened(member)).memberships).toMatchObject([
        { lockedAt: null, workspace: { secondFactorGraceDays: null } },
        { lockedAt: null },
      ]);
      const { demandedAt, graceDays } = await demand();
      expect(graceDays).toBe(7);
      const lockedAt = new Date(demandedAt.getTime() + 7 * 86_400_000);
      const before = (await opened(member)).memberships;
      expect(before.find((one) => one.workspace.id === workspace.id)).toMatchObject({
        lockedAt,
        workspace: { secondFactorGraceDays: 7 },
      });
      await age(6);
      expect(idsOf((await opened(member)).memberships)).toContain(workspace.id);
      await age(1);
      const after = await opened(member);
      expect(idsOf(after.memberships)).toEqual([elsewhere.id]);
      expect(idsOf(after.lockedMemberships)).toEqual([workspace.id]);
    });

    it('open the workspace again once they are on, and stay on', async () => {
      await demand(0);
      expect((await opened(member)).memberships).toEqual([]);
      const { secret } = await factors().begin(member.holder, { password: PASSWORD });
      const { token } = await factors().confirm(member.holder, { code: codeOf(secret) });
      expect(await opened({ token })).toMatchObject({
        memberships: [{ lockedAt: null, workspace: { id: workspace.id } }],
        lockedMemberships: [],
      });
      await host.query('UPDATE second_factors SET last_step = 0 WHERE person_id = $1', [member.personId]);
      const turnOff = () => factors().turnOff(member.holder, { password: PASSWORD, code: codeOf(secret) });
      await expect(turnOff()).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('demands a second factor'),
      });
      expect((await opened({ token })).person.hasSecondFactor).toBe(true);
      await host.get(SecondFactorDemandsService).endDemand(workspace.id, SYSTEM);
      expect(await turnOff()).toEqual({ token: expect.any(String) });
    });

    it('can be turned off within the days of grace', async () => {
      const secured = await logins.secure(member);
      await demand(7);
      const given = { password: PASSWORD, code: codeOf(secured.secret) };
      expect(await factors().turnOff(secured.holder, given)).toEqual({ token: expect.any(String) });
    });

    it('give who joins later the same days', async () => {
      await demand(3);
      await age(30);
      const newcomer = await logins.member(workspace);
      expect((await opened(newcomer)).memberships).toHaveLength(1);
      expect((await opened(member)).memberships).toHaveLength(0);
    });

    it('need one of the OWNER who demands it', async () => {
      const actor: Actor = { type: 'agent', id: member.agent.id };
      await expect(demand(7, actor)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'secondFactor' }],
      });
      await logins.secure(member);
      expect(await demand(7, actor)).toMatchObject({ graceDays: 7 });
      const first = await demand(10, actor);
      expect(await demand(10, actor)).toEqual(first);
    });

    it.each([-1, 91, 1.5])('have no %d days of grace', async (graceDays) => {
      await expectRefusal(demand(graceDays), 'INVALID_BODY');
    });
  });

  it('get new recovery codes, which end the old ones', async () => {
    const { recoveryCodes, holder, secret } = await logins.secure(member);
    const renewed = await factors().renewRecoveryCodes(holder, { password: PASSWORD, code: codeOf(secret) });
    expect(renewed.recoveryCodes).toHaveLength(10);
    await expectRefusal(confirm(await beginLogin(), recoveryCodes[0]!), 'UNAUTHENTICATED');
    expect(await confirm(await beginLogin(), renewed.recoveryCodes[0]!)).toMatchObject({
      status: 'logged_in',
    });
  });

  it('store the secret encrypted, and the codes as hashes', async () => {
    const { secret, recoveryCodes } = await logins.secure(member);
    const [row] = await host.query<{ text: string }>(
      `SELECT f::text || (SELECT string_agg(r::text, ' ') FROM recovery_codes r WHERE r.person_id = f.person_id) AS text
       FROM second_factors f WHERE person_id = $1`,
      [member.personId],
    );
    for (const hidden of [
      secret,
      ...recoveryCodes,
      ...recoveryCodes.map((code) => code.replaceAll('-', '')),
    ]) {
      expect(row!.text).not.toContain(hidden);
      expect(row!.text).not.toContain(Buffer.from(hidden).toString('hex'));
    }
  });

  it('are encrypted again under a new key, and go on to work', async () => {
    const { secret } = await logins.secure(member);
    const keys = ['new', 'test'].map((id, n) => `${id}:${Buffer.alloc(32, 6 + n).toString('base64')}`);
    const rekeyed = await MessagingHost.create({ beside: host, secretsKeys: keys.join() });
    const withoutOld = await MessagingHost.create({ beside: host, secretsKeys: keys[0]! });
    try {
      const { reencrypted } = await rekeyed.get(KeyRotationService).reencrypt(SYSTEM);
      expect(reencrypted).toBeGreaterThan(0);
      expect(await rekeyed.get(KeyRotationService).reencrypt(SYSTEM)).toEqual({ reencrypted: 0 });
      const { pendingToken } = await beginLogin();
      expect(
        await withoutOld.get(LoginsService).confirmSecondFactor({ pendingToken, code: codeOf(secret) }),
      ).toMatchObject({ status: 'logged_in' });
      const agent = await host.make.agent(workspace);
      await expectRefusal(
        rekeyed.get(KeyRotationService).reencrypt({ type: 'agent', id: agent.id }),
        'FORBIDDEN',
      );
    } finally {
      // The secrets are encrypted under the key of the other tests again.
      await host.query('DELETE FROM second_factors');
      await rekeyed.close();
      await withoutOld.close();
    }
  });
});
