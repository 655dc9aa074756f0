import { SYSTEM, Actor } from '../../src/access/principal';
import { LinksService } from '../../src/logins/links.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { JoinedWorkspace } from '../../src/logins/links/link.dto';
import { LoggedIn } from '../../src/logins/sessions/session.dto';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { Logins, OTHER_PASSWORD, PASSWORD, tokenOf } from '../support/logins';

describe('invitations', () => {
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string; name: string };

  beforeAll(async () => {
    host = await MessagingHost.create({ appUrl: 'https://app.example.com/' });
    logins = new Logins(host);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
  });

  const invitations = () => host.get(InvitationsService);
  const links = () => host.get(LinksService);
  const describeLink = (token: string) => links().describe(token, logins.origin());
  const accept = (token: string, password = PASSWORD) => links().accept(token, { password }, logins.origin());
  const join = (token: string, { token: sessionToken }: { token: string }, password?: string) =>
    links().accept(token, { sessionToken, password }, logins.origin());
  const actor = ({ id }: { id: string }): Actor => ({ type: 'agent', id });

  it('become a login of the workspace by their link, which works once', async () => {
    const agent = await host.make.agent(workspace, { email: 'Ana@Example.com', role: 'ADMIN' });
    const { link, ...sent } = await invitations().invite(workspace.id, agent.id, {}, SYSTEM);
    expect(link).toMatch(/^https:\/\/app\.example\.com\/welcome#[A-Za-z0-9_-]{64}$/);
    expect(sent).toMatchObject({
      isMailed: false,
      invitation: { agentId: agent.id, email: 'Ana@Example.com', role: 'ADMIN' },
    });
    expect(sent.expiresAt.getTime() - Date.now()).toBeGreaterThan(86_000_000);
    expect(sent.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000);
    const token = tokenOf(link);
    expect(await describeLink(token)).toEqual({
      kind: 'invitation',
      email: 'Ana@Example.com',
      workspaceName: workspace.name,
      agentName: 'Ana Admin',
      needsPassword: true,
      needsLogin: false,
    });
    expect(await invitations().list(workspace.id, SYSTEM)).toHaveLength(1);

    const given = { password: PASSWORD, name: 'Ana', locale: 'de' as const };
    const loggedIn = (await links().accept(token, given, logins.origin())) as LoggedIn;
    expect(await logins.authenticate(loggedIn.token)).toMatchObject({
      person: { email: 'ana@example.com', name: 'Ana', locale: 'de', theme: 'auto', hasSecondFactor: false },
      session: { id: loggedIn.sessionId, address: expect.any(String), userAgent: 'Firefox' },
      memberships: [
        { agentId: agent.id, agentName: 'Ana Admin', role: 'ADMIN', workspace: { id: workspace.id } },
      ],
    });
    expect(await invitations().list(workspace.id, SYSTEM)).toEqual([]);
    await expectRefusal(describeLink(token), 'NOT_FOUND');
    await expectRefusal(accept(token, OTHER_PASSWORD), 'NOT_FOUND');
    expect(await logins.logIn({ email: 'ANA@example.com' })).toMatchObject({ status: 'logged_in' });
  });

  it('are accepted once, when it is tried twice at once', async () => {
    const token = await logins.invite(workspace, await host.make.agent(workspace));
    const outcomes = await Promise.allSettled([accept(token), accept(token), accept(token)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const people = await host.query('SELECT FROM memberships WHERE tenant_id = $1', [workspace.id]);
    expect(people).toHaveLength(1);
  });

  it('end with a new one, a revocation, a deactivation, or after a day', async () => {
    const agent = await host.make.agent(workspace);
    const first = await logins.invite(workspace, agent);
    const second = await logins.invite(workspace, agent);
    await expectRefusal(accept(first), 'NOT_FOUND');
    await expectRefusal(describeLink(first), 'NOT_FOUND');
    const [invitation] = await invitations().list(workspace.id, SYSTEM);
    await invitations().revoke(workspace.id, invitation!.id, SYSTEM);
    await expectRefusal(accept(second), 'NOT_FOUND');
    await expectRefusal(invitations().revoke(workspace.id, invitation!.id, SYSTEM), 'NOT_FOUND');

    const third = await logins.invite(workspace, agent);
    // The workspace gets another OWNER.
    await host.make.agent(workspace);
    await host.get(AgentsService).update(workspace.id, agent.id, { active: false }, SYSTEM);
    await expectRefusal(accept(third), 'NOT_FOUND');
    await host.get(AgentsService).update(workspace.id, agent.id, { active: true }, SYSTEM);
    await host.query(`UPDATE invitations SET expires_at = now() WHERE tenant_id = $1`, [workspace.id]);
    await expectRefusal(accept(third), 'NOT_FOUND');
    expect(await invitations().list(workspace.id, SYSTEM)).toEqual([]);
  });

  it.each([
    ['its role changes', 'invited', [{ role: 'OWNER' }]],
    ['its role changes for a while', 'invited', [{ role: 'OWNER' }, { role: 'AGENT' }]],
    ['it is deactivated for a while', 'invited', [{ active: false }, { active: true }]],
    ['who invited it is deactivated', 'inviter', [{ active: false }]],
    ['who invited it is an AGENT now', 'inviter', [{ role: 'AGENT' }]],
  ] as const)('of an agent end when %s', async (_, whose, changes) => {
    const [invited, inviter] = [
      await host.make.agent(workspace, { role: 'AGENT' }),
      await host.make.agent(workspace, { role: 'ADMIN' }),
    ];
    const { link } = await invitations().invite(workspace.id, invited.id, {}, actor(inviter));
    // The workspace has another OWNER.
    const other = await host.make.agent(workspace);
    const unaffected = await logins.invite(workspace, other);
    const { id } = { invited, inviter }[whose];
    for (const change of changes) await host.get(AgentsService).update(workspace.id, id, change, SYSTEM);
    await expectRefusal(describeLink(tokenOf(link)), 'NOT_FOUND');
    await expectRefusal(accept(tokenOf(link)), 'NOT_FOUND');
    const open = await invitations().list(workspace.id, SYSTEM);
    expect(open.map(({ agentId }) => agentId)).toEqual([other.id]);
    expect(await accept(unaffected)).toMatchObject({ status: 'logged_in' });
  });

  it('go on when an agent is renamed', async () => {
    const agent = await host.make.agent(workspace);
    const token = await logins.invite(workspace, agent);
    await host.get(AgentsService).update(workspace.id, agent.id, { displayName: 'Ana' }, SYSTEM);
    expect(await accept(token)).toMatchObject({ status: 'logged_in' });
  });

  it('that two managers send at once leave one that works', async () => {
    const agent = await host.make.agent(workspace);
    const tokens = await Promise.all([1, 2, 3, 4].map(() => logins.invite(workspace, agent)));
    const outcomes = await Promise.allSettled(tokens.map((token) => describeLink(token)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('are stored as hashes alone', async () => {
    const token = await logins.invite(workspace, await host.make.agent(workspace));
    const [row] = await host.query<{ text: string }>(
      'SELECT i::text AS text FROM invitations i WHERE tenant_id = $1',
      [workspace.id],
    );
    expect(row!.text).not.toContain(token);
    expect(row!.text).not.toContain(Buffer.from(token).toString('hex'));
    expect(row!.text).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
  });

  it.each([
    ['a bot', { isBot: true }],
    ['an inactive agent', { active: false }],
  ])('are not for %s', async (_, input) => {
    const agent = await host.make.agent(workspace, input);
    await expectRefusal(invitations().invite(workspace.id, agent.id, {}, SYSTEM), 'INVALID_BODY');
  });

  it('are for no address that is read as another one', async () => {
    // The sign for kelvin is `k` in lower case: the login would be that of another address than the mail's.
    const kelvin = `\u212aim-${workspace.id}@example.com`;
    await expect(host.make.agent(workspace, { email: kelvin })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'email' }],
    });
    const agent = await host.make.agent(workspace);
    await host.query('UPDATE agents SET email = $2 WHERE id = $1', [agent.id, kelvin]);
    await expectRefusal(invitations().invite(workspace.id, agent.id, {}, SYSTEM), 'INVALID_BODY');
  });

  it('of an OWNER are neither made nor taken back by an ADMIN', async () => {
    const admin = actor(await host.make.agent(workspace, { role: 'ADMIN' }));
    const owner = await host.make.agent(workspace);
    await expectRefusal(invitations().invite(workspace.id, owner.id, {}, admin), 'FORBIDDEN');
    const token = await logins.invite(workspace, owner);
    const [invitation] = await invitations().list(workspace.id, SYSTEM);
    await expectRefusal(invitations().revoke(workspace.id, invitation!.id, admin), 'FORBIDDEN');
    expect(await accept(token)).toMatchObject({ status: 'logged_in' });
  });

  it('are not for an agent who has a login, nor for one of another workspace', async () => {
    const member = await logins.member(workspace);
    await expectRefusal(invitations().invite(workspace.id, member.agent.id, {}, SYSTEM), 'INVALID_BODY');
    const elsewhere = await host.make.agent(await host.make.workspace());
    await expectRefusal(invitations().invite(workspace.id, elsewhere.id, {}, SYSTEM), 'NOT_FOUND');
    const foreign = await host.make.workspace();
    await logins.invite(workspace, await host.make.agent(workspace));
    const [invitation] = await invitations().list(workspace.id, SYSTEM);
    await expectRefusal(invitations().revoke(foreign.id, invitation!.id, SYSTEM), 'NOT_FOUND');
  });

  it.each([
    ['short', 'eleven char'],
    ['too long', 'x'.repeat(99) + 'y'.repeat(102)],
    ['the e-mail address', 'Agent-Of-This@example.com'],
    ['common', 'Password1234'],
    ['of one character', 'aaaaaaaaaaaaaa'],
    ['of a repeated word', 'hunter2hunter2hunter2'],
    ['of digits in a row', '123456789012'],
    ['with half of a character', 'twelve chars \ud800'],
  ])('refuse a password that is %s, and stay', async (_, password) => {
    const agent = await host.make.agent(workspace, { email: 'agent-of-this@example.com' });
    const token = await logins.invite(workspace, agent);
    await expect(accept(token, password)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'password' }],
    });
    expect(await describeLink(token)).toMatchObject({ kind: 'invitation' });
  });

  it.each(['', 'x', 'A'.repeat(64), 'A'.repeat(43), '../../etc/passwd'])(
    'refuse the token %j',
    async (token) => {
      await expectRefusal(describeLink(token), 'NOT_FOUND');
      await expectRefusal(accept(token), 'NOT_FOUND');
    },
  );

  describe('to somebody who has a login', () => {
    it('add the workspace, once they are logged in, under a new password and a new token', async () => {
      const member = await logins.member(workspace);
      const second = await host.make.workspace({ name: 'Another' });
      const agent = await host.make.agent(second, { email: member.email.toUpperCase(), role: 'AGENT' });
      const token = await logins.invite(second, agent);
      expect(await describeLink(token)).toMatchObject({ needsPassword: true, needsLogin: true });
      const joined = await join(token, member, OTHER_PASSWORD);
      expect(joined).toEqual({
        status: 'joined',
        tenantId: second.id,
        agentId: agent.id,
        token: expect.any(String),
      });
      expect(await logins.isOpen(member.token)).toBe(false);
      member.token = (joined as JoinedWorkspace).token;
      expect((await logins.authenticate(member.token))!.memberships).toMatchObject([
        { role: 'OWNER', workspace: { id: workspace.id } },
        { role: 'AGENT', workspace: { id: second.id, name: 'Another' } },
      ]);
      await expectRefusal(join(token, member), 'NOT_FOUND');
    });

    it('keep out who was shown the first link, and set the first password by it', async () => {
      const member = await logins.member(workspace);
      const inviter = await logins.session(member);
      const second = await host.make.workspace();
      const token = await logins.invite(second, await host.make.agent(second, { email: member.email }));
      for (const password of [undefined, 'short', PASSWORD])
        await expect(join(token, member, password)).rejects.toMatchObject({
          code: 'INVALID_BODY',
          details: [{ field: 'password' }],
        });
      expect((await logins.authenticate(inviter.token))!.memberships).toHaveLength(1);
      expect(await join(token, member, OTHER_PASSWORD)).toMatchObject({ status: 'joined' });
      await expectRefusal(logins.logIn(member, PASSWORD), 'UNAUTHENTICATED');
      for (const { token: before } of [inviter, member]) expect(await logins.isOpen(before)).toBe(false);
      expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'logged_in' });
    });

    it('do not let their holder in: no password is set, and no other login joins', async () => {
      const member = await logins.member(workspace);
      const second = await host.make.workspace();
      const token = await logins.invite(second, await host.make.agent(second, { email: member.email }));
      await expectRefusal(accept(token, OTHER_PASSWORD), 'UNAUTHENTICATED');
      await expectRefusal(logins.logIn(member, OTHER_PASSWORD), 'UNAUTHENTICATED');
      const holder = await logins.member(second);
      await expectRefusal(join(token, holder, OTHER_PASSWORD), 'FORBIDDEN');
      expect((await logins.authenticate(member.token))!.memberships).toHaveLength(1);
      expect(await describeLink(token)).toMatchObject({ kind: 'invitation' });
    });

    it('are of no use to a session that has ended', async () => {
      const member = await logins.member(workspace);
      const second = await host.make.workspace();
      const token = await logins.invite(second, await host.make.agent(second, { email: member.email }));
      await host.query('DELETE FROM login_sessions WHERE id = $1', [member.sessionId]);
      await expectRefusal(join(token, member), 'UNAUTHENTICATED');
    });

    it('end the other sessions: who opened one before does not get in by it', async () => {
      const member = await logins.member(workspace);
      const other = await logins.session(member);
      await logins.join(member, await host.make.workspace());
      expect(await logins.isOpen(other.token)).toBe(false);
      expect((await logins.authenticate(member.token))!.memberships).toHaveLength(2);
    });

    it('end the links to reset the password that others may have been shown', async () => {
      const member = await logins.member(workspace);
      const manager = await host.make.agent(workspace);
      const { link } = await host
        .get(PasswordsService)
        .sendReset(workspace.id, member.agent.id, actor(manager));
      const second = await host.make.workspace();
      await logins.join(member, second);
      await expectRefusal(accept(tokenOf(link), OTHER_PASSWORD), 'NOT_FOUND');
      expect(await logins.isOpen(member.token)).toBe(true);
    });

    it('make one login, when invitations of two workspaces are accepted at once', async () => {
      const second = await host.make.workspace();
      const email = `both-${workspace.id}@example.com`;
      const tokens = await Promise.all(
        [workspace, second].map(async (of) => logins.invite(of, await host.make.agent(of, { email }))),
      );
      const outcomes = await Promise.allSettled([accept(tokens[0]!), accept(tokens[1]!, OTHER_PASSWORD)]);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused).toMatchObject([{ reason: { code: 'INVALID_BODY', details: [{ field: 'email' }] } }]);
      const left = outcomes.findIndex((outcome) => outcome.status === 'rejected');
      expect(await describeLink(tokens[left]!)).toMatchObject({ needsLogin: true });
    });

    it('stop at 100 workspaces', async () => {
      const member = await logins.member(workspace);
      await host.query(
        `WITH w AS (
           INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
           SELECT gen_random_uuid(), 'Many', $1 || n, 'PRO', now(), now() FROM generate_series(1, 99) AS n RETURNING id
         ), a AS (
           INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
           SELECT gen_random_uuid(), id, 'Ana', $2, 'AGENT', false, true, now(), now() FROM w RETURNING tenant_id, id
         )
         INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) SELECT tenant_id, id, $3, now() FROM a`,
        [`many-${workspace.id.slice(0, 8)}-${workspace.id.slice(-8)}-`, member.email, member.personId],
      );
      await host.query(
        `INSERT INTO person_workspaces (person_id, tenant_id)
         SELECT person_id, tenant_id FROM memberships WHERE person_id = $1 ON CONFLICT DO NOTHING`,
        [member.personId],
      );
      const another = await host.make.workspace();
      await expect(logins.join(member, another)).rejects.toMatchObject({ code: 'INVALID_BODY' });
      expect((await logins.authenticate(member.token))!.memberships).toHaveLength(100);
    });
  });

  describe('and roles', () => {
    it('an ADMIN invites everybody but an OWNER, an AGENT nobody', async () => {
      const [admin, agent] = [
        await host.make.agent(workspace, { role: 'ADMIN' }),
        await host.make.agent(workspace, { role: 'AGENT' }),
      ];
      const owner = await host.make.agent(workspace, { role: 'OWNER' });
      const invite = (to: { id: string }, by: { id: string }) =>
        invitations().invite(workspace.id, to.id, {}, actor(by));
      await expectRefusal(invite(owner, admin), 'FORBIDDEN');
      await expectRefusal(invite(admin, agent), 'FORBIDDEN');
      expect(await invite(agent, admin)).toMatchObject({ invitation: { role: 'AGENT' } });
      expect(await invite(admin, owner)).toMatchObject({ invitation: { role: 'ADMIN' } });
    });
  });
});
