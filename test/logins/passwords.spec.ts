import { Actor, SYSTEM } from '../../src/access/principal';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { LinksService } from '../../src/logins/links.service';
import { LoggedIn, SecondFactorRequired } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { OperatorLoginsService } from '../../src/logins/operator-logins.service';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { codeOf, Logins, Member, OTHER_PASSWORD, PASSWORD, tokenOf } from '../support/logins';

describe('passwords', () => {
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
    member = await logins.member(workspace, { role: 'AGENT' });
  });

  const change = (currentPassword = PASSWORD, newPassword = OTHER_PASSWORD) =>
    host.get(PasswordsService).change(member.holder, { currentPassword, newPassword });
  const sendReset = (actor: Actor = SYSTEM, agent: { id: string } = member.agent) =>
    host.get(PasswordsService).sendReset(workspace.id, agent.id, actor);
  const reset = (token: string, password = OTHER_PASSWORD) =>
    host.get(LinksService).accept(token, { password }, logins.origin());
  const actor = ({ id }: { id: string }): Actor => ({ type: 'agent', id });

  describe('that are changed', () => {
    it('end every other session, and the old token of this one', async () => {
      const other = await logins.session(member);
      const { token } = await change();
      expect(await logins.isOpen(other.token)).toBe(false);
      expect(await logins.isOpen(member.token)).toBe(false);
      expect((await logins.authenticate(token))!.session.id).toBe(member.sessionId);
      await expectRefusal(logins.logIn(member), 'UNAUTHENTICATED');
      expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'logged_in' });
    });

    it.each([
      ['currentPassword', 'Not the password', OTHER_PASSWORD],
      ['newPassword', PASSWORD, 'short'],
      ['newPassword', PASSWORD, 'password1234'],
    ])('need a right old and a good new one: %s', async (field, current, next) => {
      await expect(change(current, next)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field }],
      });
      expect(await logins.isOpen(member.token)).toBe(true);
    });

    it('are changed once, when it is tried twice at once', async () => {
      const outcomes = await Promise.allSettled([change(), change(PASSWORD, 'Fourteen blue beets')]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = outcomes.find((outcome) => outcome.status === 'rejected')!;
      // Before the first change committed, it had ended neither the session nor the old password.
      expect(['UNAUTHENTICATED', 'INVALID_BODY']).toContain((refused.reason as { code: string }).code);
    });

    it('let nobody in who began with the old one', async () => {
      const attempts = Array.from({ length: 8 }, () => logins.logIn(member));
      const [changed, ...outcomes] = await Promise.allSettled([change(), ...attempts]);
      expect(changed.status).toBe('fulfilled');
      for (const outcome of outcomes)
        if (outcome.status === 'fulfilled')
          expect(await logins.isOpen((outcome.value as LoggedIn).token)).toBe(false);
    });
  });

  describe('that are reset by a link', () => {
    it('are new, once, and end all sessions and the known browsers', async () => {
      const { link, isMailed } = await sendReset();
      expect(isMailed).toBe(false);
      const token = tokenOf(link);
      expect(link).toBe(`http://localhost:3000/reset#${token}`);
      expect(await host.get(LinksService).describe(token, logins.origin())).toEqual({
        kind: 'reset',
        email: member.email,
        workspaceName: null,
        agentName: null,
        needsPassword: true,
        needsLogin: false,
      });
      await reset(token);
      expect(await logins.isOpen(member.token)).toBe(false);
      await expectRefusal(reset(token, 'Fourteen blue beets'), 'NOT_FOUND');
      const again = (await logins.logIn(member, OTHER_PASSWORD, {
        browserToken: member.browserToken!,
      })) as LoggedIn;
      expect(again.browserToken).toEqual(expect.any(String));
    });

    it('are reset once, when it is tried twice at once', async () => {
      const token = tokenOf((await sendReset()).link);
      const outcomes = await Promise.allSettled([
        reset(token),
        reset(token, 'Fourteen blue beets'),
        reset(token, 'Fifteen white beans'),
      ]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('stay, with a bad password, an expired link, or after another link was used', async () => {
      const [first, second] = [tokenOf((await sendReset()).link), tokenOf((await sendReset()).link)];
      await expectRefusal(reset(first, 'short'), 'INVALID_BODY');
      await host.query('UPDATE password_resets SET expires_at = now() WHERE person_id = $1', [
        member.personId,
      ]);
      await expectRefusal(reset(first), 'NOT_FOUND');
      const [third, fourth] = [tokenOf((await sendReset()).link), tokenOf((await sendReset()).link)];
      await reset(third);
      await expectRefusal(reset(fourth), 'NOT_FOUND');
      await expectRefusal(reset(second), 'NOT_FOUND');
    });

    it.each([
      ['the agent becomes an OWNER', 'agent', { role: 'OWNER' }],
      ['the agent is deactivated', 'agent', { active: false }],
      ['the manager who made it is deactivated', 'manager', { active: false }],
      ['the manager who made it is an AGENT now', 'manager', { role: 'AGENT' }],
    ] as const)('stay when %s', async (_, whose, change) => {
      const manager = await host.make.agent(workspace, { role: 'ADMIN' });
      const token = tokenOf((await sendReset(actor(manager))).link);
      const byOperator = tokenOf((await sendReset({ type: 'operator', name: 'lin' })).link);
      const { id } = { agent: member.agent, manager }[whose];
      await host.get(AgentsService).update(workspace.id, id, change, SYSTEM);
      await expectRefusal(host.get(LinksService).describe(token, logins.origin()), 'NOT_FOUND');
      await expectRefusal(reset(token), 'NOT_FOUND');
      expect(await logins.isOpen(member.token)).toBe(true);
      // A link for the agent ends with it, whoever made the link.
      if (whose === 'agent') await expectRefusal(reset(byOperator), 'NOT_FOUND');
      else await reset(byOperator);
    });

    it('still need the second factor, and end a login that waits for its code', async () => {
      const secured = await logins.secure(member);
      const waiting = (await logins.logIn(secured)) as SecondFactorRequired;
      await reset(tokenOf((await sendReset()).link));
      const { pendingToken } = waiting;
      const confirm = host
        .get(LoginsService)
        .confirmSecondFactor({ pendingToken, code: codeOf(secured.secret) }, logins.origin());
      await expectRefusal(confirm, 'UNAUTHENTICATED');
      expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'second_factor_required' });
    });

    it('are not shown for a login that opens another workspace, active there or not', async () => {
      const manager = await host.make.agent(workspace);
      const second = await host.make.workspace();
      const agent = await logins.join(member, second, { role: 'AGENT' });
      await expectRefusal(sendReset(actor(manager)), 'FORBIDDEN');
      await host.get(AgentsService).update(second.id, agent.id, { active: false }, SYSTEM);
      await expectRefusal(sendReset(actor(manager)), 'FORBIDDEN');
      expect(await host.query('SELECT FROM password_resets WHERE person_id = $1', [member.personId])).toEqual(
        [],
      );
    });

    it('are for agents of the own workspace who have a login', async () => {
      const other = await logins.member(await host.make.workspace());
      await expectRefusal(sendReset(SYSTEM, other.agent), 'NOT_FOUND');
      await expectRefusal(sendReset(SYSTEM, await host.make.agent(workspace)), 'INVALID_BODY');
    });

    it('an ADMIN makes for everybody but an OWNER, an AGENT for nobody', async () => {
      const [owner, admin] = [
        await logins.member(workspace),
        await logins.member(workspace, { role: 'ADMIN' }),
      ];
      await expectRefusal(sendReset(actor(admin.agent), owner.agent), 'FORBIDDEN');
      await expectRefusal(sendReset(actor(member.agent), admin.agent), 'FORBIDDEN');
      expect(await sendReset(actor(admin.agent), member.agent)).toMatchObject({ link: expect.any(String) });
      expect(await sendReset(actor(owner.agent), admin.agent)).toMatchObject({ link: expect.any(String) });
    });

    it('nobody asks for by an e-mail address without a mail server', async () => {
      const request = (email: string) => host.get(PasswordsService).requestReset({ email }, logins.origin());
      await expectRefusal(request(member.email), 'FORBIDDEN');
      await expectRefusal(request('nobody@example.com'), 'FORBIDDEN');
    });
  });

  describe('and operators', () => {
    const operator: Actor = { type: 'operator', name: 'lin' };
    const operatorLogins = () => host.get(OperatorLoginsService);

    it('reset any, whatever its workspaces, and name themselves in each', async () => {
      const second = await host.make.workspace();
      await logins.join(member, second);
      const { link } = await operatorLogins().sendReset(member.email.toUpperCase(), operator);
      await reset(tokenOf(link));
      expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'logged_in' });
      const entries = await host.query(
        `SELECT actor_name AS name FROM audit_entries
         WHERE action = 'agent.password_reset_sent' AND tenant_id = ANY ($1)`,
        [[workspace.id, second.id]],
      );
      expect(entries).toEqual([{ name: 'lin' }, { name: 'lin' }]);
    });

    it('end sessions, one or all, and turn a second factor off', async () => {
      const [one, two] = [await logins.session(member), await logins.session(member)];
      expect(await operatorLogins().listSessions(member.email, SYSTEM)).toHaveLength(3);
      expect(await operatorLogins().revokeSessions(member.email, one.sessionId, operator)).toEqual({
        revoked: 1,
      });
      expect(await logins.isOpen(one.token)).toBe(false);
      expect(await logins.isOpen(two.token)).toBe(true);
      await expectRefusal(
        operatorLogins().revokeSessions(member.email, one.sessionId, operator),
        'NOT_FOUND',
      );
      expect(await operatorLogins().revokeSessions(member.email, undefined, operator)).toEqual({
        revoked: 2,
      });
      expect(await logins.isOpen(two.token)).toBe(false);

      const secured = await logins.secure(await logins.session(member));
      expect(await operatorLogins().list(workspace.id, SYSTEM)).toMatchObject([
        { agentId: member.agent.id, hasSecondFactor: true, lastLoggedInAt: expect.any(Date) },
      ]);
      expect(await operatorLogins().turnOffSecondFactor(member.email, operator)).toBe(true);
      expect(await operatorLogins().turnOffSecondFactor(member.email, operator)).toBe(false);
      expect(await logins.logIn(secured)).toMatchObject({ status: 'logged_in' });
    });

    it('are they alone, and name a login that there is', async () => {
      const { id } = await host.make.agent(workspace);
      const others: Actor[] = [
        { type: 'agent', id },
        { type: 'api_key', id },
      ];
      for (const by of others) {
        await expectRefusal(operatorLogins().sendReset(member.email, by), 'FORBIDDEN');
        await expectRefusal(operatorLogins().turnOffSecondFactor(member.email, by), 'FORBIDDEN');
        await expectRefusal(operatorLogins().revokeSessions(member.email, undefined, by), 'FORBIDDEN');
      }
      await expectRefusal(operatorLogins().sendReset('nobody@example.com', operator), 'NOT_FOUND');
      await expectRefusal(
        operatorLogins().sendReset(member.email, { type: 'operator', name: ' ' }),
        'INVALID_BODY',
      );
    });
  });
});
