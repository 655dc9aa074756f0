import { Client } from 'pg';
import { AGENT_ROLES, AgentRole, PERMISSIONS } from '../../src/access/permissions';
import { Actor, SYSTEM } from '../../src/access/principal';
import { AuditService } from '../../src/audit/audit.service';
import { ParkedEventsService } from '../../src/operations/parked-events/parked-events.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { fillWorkspace, Filled, readsOf } from './reads';

const NO_ACTOR = { code: 'INVALID_BODY', details: [{ field: 'actor' }] };
const OPERATOR: Actor = { type: 'operator', name: 'lin' };

describe('reads of a workspace', () => {
  let host: MessagingHost;
  let filled: Filled;
  const agents = {} as Record<AgentRole, Actor>;
  let strangers: Record<string, Actor>;
  let apiKey: Actor;

  const agent = async (...given: Parameters<MessagingHost['make']['agent']>): Promise<Actor> => ({
    type: 'agent',
    id: (await host.make.agent(...given)).id,
  });

  beforeAll(async () => {
    host = await MessagingHost.create();
    filled = await fillWorkspace(host);
    const { workspace } = filled.own;
    for (const role of AGENT_ROLES) agents[role] = await agent(workspace, { role });
    strangers = {
      'an inactive OWNER': await agent(workspace, { active: false }),
      'an OWNER of another workspace': await agent(await host.make.workspace()),
      'nobody of an id': { type: 'agent', id: 'nope' },
    };
    apiKey = { type: 'api_key', id: (await host.make.apiKey(workspace)).id };
  });
  afterAll(() => host.close());

  describe.each(Object.entries(readsOf(() => host)))('%s', (_, { permission, call }) => {
    const holders: readonly string[] = PERMISSIONS[permission];
    const isOfOperators = holders.length === 0;
    const FORBIDDEN = { code: 'FORBIDDEN', message: expect.stringContaining(permission) };

    it('is open to those alone who may do it', async () => {
      const allowed = [SYSTEM, OPERATOR, ...AGENT_ROLES.filter(isHolder).map((role) => agents[role])];
      const refused = AGENT_ROLES.filter((role) => !isHolder(role)).map((role) => agents[role]);
      (isHolder('API_KEY') ? allowed : refused).push(apiKey);
      for (const actor of allowed)
        expect({ actor, read: await call(filled, actor) }).toEqual({ actor, read: expect.anything() });
      for (const actor of refused) await expect(call(filled, actor)).rejects.toMatchObject(FORBIDDEN);
    });

    it('is closed to who is no active agent', async () => {
      const refusal = isOfOperators ? FORBIDDEN : NO_ACTOR;
      for (const [who, actor] of Object.entries(strangers)) {
        const outcome = await call(filled, actor).catch((error: unknown) => error);
        expect({ who, outcome }).toMatchObject({ who, outcome: refusal });
      }
    });

    function isHolder(holder: string): boolean {
      return holders.includes(holder);
    }
  });

  describe('while the agents are locked', () => {
    let lock: Client;
    beforeAll(async () => {
      lock = new Client(host.stores.databaseUrl);
      await lock.connect();
    });
    afterAll(() => lock.end());
    afterEach(() => lock.query('ROLLBACK'));

    it.each([
      'ContactsService.list',
      'ConversationsService.list',
      'ConversationsService.get',
      'MessagesService.list',
    ])('%s asks nothing about a key, an operator or the system', async (name) => {
      await lock.query('BEGIN; LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
      for (const actor of [apiKey, OPERATOR, SYSTEM])
        expect(await readsOf(() => host)[name]!.call(filled, actor)).toBeTruthy();
    });

    it('an agent reads without waiting for a change of the agent', async () => {
      await lock.query(`BEGIN; SELECT FROM agents WHERE tenant_id = '${filled.own.workspace.id}' FOR UPDATE`);
      for (const { permission, call } of Object.values(readsOf(() => host)))
        if ((PERMISSIONS[permission] as string[]).includes('OWNER'))
          expect(await call(filled, agents.OWNER)).toEqual(expect.anything());
    });
  });

  it('tell an agent of another workspace nothing about which slugs are in use', async () => {
    const stranger = strangers['an OWNER of another workspace']!;
    const find = (slug: string) => host.get(WorkspacesService).getBySlug(slug, stranger);
    const outcomes = await Promise.allSettled([find(filled.own.workspace.slug), find('unused')]);
    const [used, unused] = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason);
    expect(used).toMatchObject(NO_ACTOR);
    expect(unused).toEqual(used);
  });

  it('list the parked events of all workspaces to operators alone', async () => {
    const list = (actor: Actor) => host.get(ParkedEventsService).list(undefined, actor);
    for (const actor of [agents.OWNER, apiKey]) await expectRefusal(list(actor), 'FORBIDDEN');
    for (const actor of [OPERATOR, SYSTEM]) expect(await list(actor)).toEqual([]);
  });

  it('end with the right to read: an export of the audit log stops at its next step', async () => {
    const workspace = await host.make.workspace();
    const { id } = await host.make.agent(workspace, { role: 'ADMIN' });
    await host.query(
      `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, metadata, created_at)
       SELECT $1, gen_random_uuid(), 'agent.invited', 'agent', 'x', 'system', '{}', now() FROM generate_series(1, 1100)`,
      [workspace.id],
    );
    const lines = host.get(AuditService).export(workspace.id, {}, { type: 'agent', id });
    await lines.next();
    await host.get(AgentsService).update(workspace.id, id, { role: 'AGENT' }, SYSTEM);
    const rest = async () => {
      while (!(await lines.next()).done);
    };
    await expectRefusal(rest(), 'FORBIDDEN');
  });
});
