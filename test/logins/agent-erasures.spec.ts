import { Actor, SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { OperatorLoginsService } from '../../src/logins/operator-logins.service';
import { PeopleService } from '../../src/logins/people.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { expectRefusal } from '../support/errors';
import { waitForLockWait } from '../support/lock-waits';
import { Logins, Member, PASSWORD } from '../support/logins';
import { MessagingHost } from '../support/messaging-host';

/** Tables of people, and the column that names the person. */
const OF_PERSON = {
  people: 'id',
  memberships: 'person_id',
  login_sessions: 'person_id',
  pending_logins: 'person_id',
  known_browsers: 'person_id',
  password_resets: 'person_id',
  second_factors: 'person_id',
  recovery_codes: 'person_id',
  push_addresses: 'person_id',
};

describe('people and their agents', () => {
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string; name: string };
  let owner: Member;
  let member: Member;

  beforeAll(async () => {
    host = await MessagingHost.create();
    logins = new Logins(host);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    owner = await logins.member(workspace);
    member = await logins.member(workspace, { name: 'Zoë Martín', displayName: 'Zoë', role: 'AGENT' });
  });

  const actor = (): Actor => ({ type: 'agent', id: owner.agent.id });
  const erase = (id = member.agent.id) => host.get(AgentErasuresService).erase(workspace.id, id, actor());
  const deactivate = ({ tenantId, id } = member.agent) =>
    host.get(AgentsService).update(tenantId, id, { active: false }, SYSTEM);
  const agentOf = async (id = member.agent.id) =>
    (await host.get(AgentsService).list(workspace.id, SYSTEM)).find((one) => one.id === id)!;
  const rowsOf = async (personId: string) => {
    const counts: Record<string, number> = {};
    for (const [table, column] of Object.entries(OF_PERSON))
      counts[table] = (await host.query(`SELECT FROM ${table} WHERE ${column} = $1`, [personId])).length;
    return counts;
  };

  it('are renamed together by the person, and the agent alone by managers', async () => {
    const second = await host.make.workspace();
    const other = await logins.join(member, second);
    await host.get(PeopleService).update(member.holder, { name: 'Ada Byron' });
    const names = await host.query(
      'SELECT name, display_name AS "displayName" FROM agents WHERE id = ANY ($1) ORDER BY id',
      [[member.agent.id, other.id]],
    );
    expect(names).toEqual([
      { name: 'Ada Byron', displayName: 'Zoë' },
      { name: 'Ada Byron', displayName: null },
    ]);
    await host.get(AgentsService).update(workspace.id, member.agent.id, { name: 'Ada' }, actor());
    expect(await agentOf()).toMatchObject({ name: 'Ada' });
    expect((await logins.authenticate(member.token))!.person.name).toBe('Ada Byron');
  });

  it('are renamed without a deadlock while a manager makes a link for one', async () => {
    let renamed: Promise<unknown> | undefined;
    await host.get(Database).transaction(async (tx) => {
      await tx.query('SELECT FROM agents WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE', [
        workspace.id,
        member.agent.id,
      ]);
      renamed = host.get(PeopleService).update(member.holder, { name: 'Ada Byron' });
      await waitForLockWait(host, 'the renaming');
      await tx.query('SELECT FROM people WHERE id = $1 FOR NO KEY UPDATE', [member.holder.personId]);
    });
    expect(await renamed).toMatchObject({ name: 'Ada Byron' });
  });

  it('are erased with everything of the login, once the agent is inactive', async () => {
    await logins.secure(member);
    await logins.logIn(member);
    await expectRefusal(erase(), 'INVALID_BODY');
    await deactivate();
    await erase();
    expect(await agentOf()).toMatchObject({
      id: member.agent.id,
      name: '',
      displayName: null,
      email: `${member.agent.id}@erased.invalid`,
      role: 'AGENT',
      active: false,
      erasedAt: expect.any(Date),
    });
    const none = Object.fromEntries(Object.keys(OF_PERSON).map((table) => [table, 0]));
    expect(await rowsOf(member.personId)).toEqual(none);
    expect(await logins.isOpen(member.token)).toBe(false);
    await expectRefusal(logins.logIn(member), 'UNAUTHENTICATED');
    // A second call changes nothing, and nothing brings the agent back.
    await erase();
    await expectRefusal(
      host.get(AgentsService).update(workspace.id, member.agent.id, { active: true }, SYSTEM),
      'INVALID_BODY',
    );
    await expectRefusal(
      host.get(InvitationsService).invite(workspace.id, member.agent.id, {}, SYSTEM),
      'INVALID_BODY',
    );
    // The address is free for another agent.
    expect(await host.make.agent(workspace, { email: member.email })).toMatchObject({ email: member.email });
  });

  it('leave no name and no address in any table of the workspace, but display names in the audit log', async () => {
    await logins.logIn(member);
    await deactivate();
    await erase();
    const tables = await host.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name NOT LIKE '%\\_20%'`,
    );
    for (const { name } of tables) {
      const found = await host.query(
        `SELECT FROM ${name} t WHERE t.tenant_id = $1 AND (t::text LIKE '%Martín%' OR t::text LIKE '%' || $2 || '%')`,
        [workspace.id, member.email],
      );
      expect([name, found]).toEqual([name, []]);
    }
  });

  it('keep a login that opens another workspace', async () => {
    const second = await host.make.workspace();
    await logins.join(member, second);
    await deactivate();
    await erase();
    expect((await logins.authenticate(member.token))!.memberships).toMatchObject([
      { workspace: { id: second.id } },
    ]);
  });

  it('end with an invitation that was never accepted', async () => {
    const agent = await host.make.agent(workspace, { role: 'AGENT' });
    await logins.invite(workspace, agent);
    await deactivate(agent);
    await erase(agent.id);
    expect(await host.query('SELECT FROM invitations WHERE agent_id = $1', [agent.id])).toEqual([]);
  });

  it('are told all that is stored about them, without secrets', async () => {
    const second = await host.make.workspace();
    const agent = await logins.join(member, second);
    const exported = await host.get(PeopleService).export(member.holder);
    expect(exported).toEqual({
      person: {
        id: member.personId,
        email: member.email,
        name: 'Zoë Martín',
        locale: null,
        theme: 'auto',
        hasSecondFactor: false,
        createdAt: expect.any(Date),
        lastLoggedInAt: expect.any(Date),
      },
      memberships: [
        expect.objectContaining({
          agentId: member.agent.id,
          displayName: 'Zoë',
          workspaceName: workspace.name,
        }),
        expect.objectContaining({ agentId: agent.id, active: true }),
      ],
      sessions: [expect.objectContaining({ id: member.sessionId, userAgent: 'Firefox' })],
      knownBrowsers: [],
      others: { pushAddresses: [] },
    });
    const text = JSON.stringify(exported);
    for (const secret of [PASSWORD, member.token, 'argon2', 'hash"']) expect(text).not.toContain(secret);
    const operator: Actor = { type: 'operator', name: 'lin' };
    expect(await host.get(OperatorLoginsService).export(member.email.toUpperCase(), operator)).toEqual(
      exported,
    );
    await expectRefusal(host.get(OperatorLoginsService).export(member.email, actor()), 'FORBIDDEN');
  });
});
