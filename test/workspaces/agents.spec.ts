import { Actor, SYSTEM } from '../../src/access/principal';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { UpdateAgent } from '../../src/workspaces/agent.dto';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';

describe('OWNERs', () => {
  let host: MessagingHost;
  let workspace: { id: string };
  let owner: AgentEntity;
  let admin: AgentEntity;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    owner = await host.make.agent(workspace, { role: 'OWNER' });
    admin = await host.make.agent(workspace, { role: 'ADMIN' });
  });

  const agents = () => host.get(AgentsService);
  const by = ({ id }: { id: string }): Actor => ({ type: 'agent', id });
  const update = (agent: { id: string }, changes: UpdateAgent, actor: Actor = SYSTEM) =>
    agents().update(workspace.id, agent.id, changes, actor);
  const owners = async () =>
    (await agents().list(workspace.id, SYSTEM)).filter(({ role, active }) => role === 'OWNER' && active);

  it('are at most 1,000 agents together with all others', async () => {
    await host.query(
      `INSERT INTO agents (tenant_id, id, name, email, role, is_bot, active, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'Ana', n || '@example.com', 'AGENT', false, n % 2 = 0, now(), now()
       FROM generate_series(1, 997) AS n`,
      [workspace.id],
    );
    const create = (email: string) =>
      agents().create(workspace.id, { name: 'Eve', email, role: 'AGENT' as const }, by(owner));
    const outcomes = await Promise.allSettled(['a@example.com', 'b@example.com'].map(create));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expectRefusal(create('c@example.com'), 'INVALID_BODY');
    expect(await agents().list(workspace.id, SYSTEM)).toHaveLength(1_000);
  });

  it('are made and changed by OWNERs, not by an ADMIN', async () => {
    await expectRefusal(update(admin, { role: 'OWNER' }, by(admin)), 'FORBIDDEN');
    await expectRefusal(update(owner, { role: 'AGENT' }, by(admin)), 'FORBIDDEN');
    await expectRefusal(update(owner, { active: false }, by(admin)), 'FORBIDDEN');
    // Customers see the display name.
    await expectRefusal(update(owner, { name: 'Not Ada' }, by(admin)), 'FORBIDDEN');
    await expectRefusal(update(owner, { displayName: 'Scam Support' }, by(admin)), 'FORBIDDEN');
    const former = await host.make.agent(workspace, { role: 'OWNER', active: false });
    await expectRefusal(update(former, { displayName: null }, by(admin)), 'FORBIDDEN');
    const given = { name: 'Eve', email: 'eve@example.com', role: 'OWNER' as const };
    await expectRefusal(agents().create(workspace.id, given, by(admin)), 'FORBIDDEN');
    expect(await owners()).toHaveLength(1);

    expect(await update(owner, { name: 'Ada' }, by(owner))).toMatchObject({ name: 'Ada' });
    expect(await update(admin, { role: 'OWNER' }, by(owner))).toMatchObject({ role: 'OWNER' });
    expect(await agents().create(workspace.id, given, by(owner))).toMatchObject({ role: 'OWNER' });
    expect(await update(owner, { role: 'AGENT' }, by(admin))).toMatchObject({ role: 'AGENT' });
  });

  it.each([
    ['role', { role: 'ADMIN' as const }],
    ['active', { active: false }],
  ])('never end: the last active one keeps its %s, whoever asks', async (field, changes) => {
    await host.make.agent(workspace, { role: 'OWNER', active: false });
    await host.make.agent(workspace, { role: 'OWNER', isBot: true });
    for (const actor of [by(owner), SYSTEM, { type: 'operator', name: 'lin' } as Actor])
      await expect(update(owner, changes, actor)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field }],
      });
    expect(await owners()).toHaveLength(2);
    await host.make.agent(workspace, { role: 'OWNER' });
    expect(await update(owner, changes)).toMatchObject(changes);
  });

  it('are not both taken away by two changes at once', async () => {
    const second = await host.make.agent(workspace, { role: 'OWNER' });
    for (let n = 0; n < 5; n++) {
      const outcomes = await Promise.allSettled([
        update(owner, { role: 'ADMIN' }, by(second)),
        update(second, { role: 'ADMIN' }, by(owner)),
      ]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await owners()).toHaveLength(1);
      for (const agent of [owner, second]) await update(agent, { role: 'OWNER' });
    }
  });
});
