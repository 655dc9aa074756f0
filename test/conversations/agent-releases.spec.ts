import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { AgentsService } from '../../src/workspaces/agents.service';
import { countLockWaits, waitForLockWait } from '../support/lock-waits';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

/** Time in which hundreds of conversations of one workspace are released, one after the other. */
const ALL_WITHIN_MS = 40_000;

describe('the conversations of a deactivated agent', () => {
  let service: TestService;
  const workers: TestService[] = [];

  beforeAll(async () => {
    service = await TestService.create();
  });
  afterAll(async () => {
    for (const worker of workers) await worker.close();
  });

  const startWorker = async () => {
    const worker = await TestService.create({ role: 'worker', beside: service });
    workers.push(worker);
    return worker;
  };
  const setActive = (workspace: { id: string }, agent: { id: string }, active: boolean) =>
    service.app.get(AgentsService).update(workspace.id, agent.id, { active }, SYSTEM);
  const countAssigned = async (agent: { id: string }) => {
    const [row] = await service.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM conversations WHERE assigned_agent_id = $1',
      [agent.id],
    );
    return row!.count;
  };
  const countAssignedIn = async (workspace: { id: string }) => {
    const [row] = await service.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM conversations WHERE tenant_id = $1 AND assigned_agent_id IS NOT NULL',
      [workspace.id],
    );
    return row!.count;
  };
  async function assigned(status: 'OPEN' | 'SNOOZED' | 'CLOSED' = 'OPEN') {
    const workspace = await service.make.workspace();
    const agent = await service.make.agent(workspace, { role: 'AGENT' });
    const conversation = await service.make.conversation(workspace);
    await service.make.updateConversation(workspace, conversation, { assignedAgentId: agent.id });
    if (status !== 'OPEN') await service.make.updateConversation(workspace, conversation, { status });
    return { workspace, agent, conversation };
  }

  it('become nobody’s, the open and snoozed ones, each once with event and entry, over killed workers', async () => {
    const { workspace, agent } = await assigned();
    const { id: contactId } = await service.make.contact(workspace);
    await service.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'WIDGET', CASE WHEN i % 3 = 0 THEN 'SNOOZED' ELSE 'OPEN' END, $3, now(), now()
       FROM generate_series(1, 300) i`,
      [workspace.id, contactId, agent.id],
    );
    const closed = await service.make.conversation(workspace);
    await service.make.updateConversation(workspace, closed, { assignedAgentId: agent.id, status: 'CLOSED' });
    await setActive(workspace, agent, false);

    const first = await startWorker();
    await waitFor('some', async () => (await countAssigned(agent)) < 295);
    workers.splice(workers.indexOf(first), 1);
    await first.close();
    await Promise.all([startWorker(), startWorker()]);
    await waitFor('all', async () => (await countAssigned(agent)) === 1, ALL_WITHIN_MS);

    const entries = await service.query<{ entity: string; actor: string }>(
      `SELECT entity_id AS entity, actor_type AS actor FROM audit_entries
       WHERE tenant_id = $1 AND action = 'conversation.assigned' AND after->>'assignedAgentId' IS NULL`,
      [workspace.id],
    );
    expect(entries).toHaveLength(301);
    expect(new Set(entries.map(({ entity }) => entity)).size).toBe(301);
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(['system']));
    const events = await service.query(
      `SELECT FROM events WHERE tenant_id = $1 AND type = 'conversation.updated'
         AND (data->'assignedAgentId')::text = 'null'`,
      [workspace.id],
    );
    expect(events).toHaveLength(301);
  }, 120_000);

  it('become nobody’s, too, when they are assigned at the moment of the deactivation', async () => {
    for (const worker of workers.splice(0)) await worker.close();
    const workspace = await service.make.workspace();
    const agent = await service.make.agent(workspace, { role: 'AGENT' });
    const conversation = await service.make.conversation(workspace);
    const changes: Promise<unknown>[] = [];
    await service.app.get(Database).transaction(async (tx) => {
      await tx.query('SELECT FROM conversations WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE', [
        workspace.id,
        conversation.id,
      ]);
      changes.push(service.make.updateConversation(workspace, conversation, { assignedAgentId: agent.id }));
      await waitForLockWait(service, 'the assignment');
      changes.push(setActive(workspace, agent, false));
      await waitFor('the deactivation to wait for it', async () => (await countLockWaits(service)) === 2);
    });
    await Promise.all(changes);
    expect(await countAssigned(agent)).toBe(1);
    await startWorker();
    await waitFor('the conversation', async () => (await countAssigned(agent)) === 0);
  });

  it('of a workspace that many leave keep no other workspace waiting', async () => {
    for (const worker of workers.splice(0)) await worker.close();
    const crowded = await service.make.workspace();
    const { id: contactId } = await service.make.contact(crowded);
    const leavers: { id: string }[] = [];
    for (let n = 0; n < 40; n++) leavers.push(await service.make.agent(crowded, { role: 'AGENT' }));
    for (const { id } of leavers)
      await service.query(
        `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, created_at, updated_at)
         SELECT $1, gen_random_uuid(), $2, 'WIDGET', 'OPEN', $3, now(), now() FROM generate_series(1, 5)`,
        [crowded.id, contactId, id],
      );
    const { workspace, agent } = await assigned();
    for (const leaver of [...leavers, agent])
      await setActive(leaver === agent ? workspace : crowded, leaver, false);
    await startWorker();
    await waitFor('the one of the other workspace', async () => (await countAssigned(agent)) === 0);
    // Each turn of the crowded one is of ten conversations, of ten agents.
    expect(await countAssignedIn(crowded)).toBeGreaterThan(40 * 5 - 100);
    await waitFor('all', async () => (await countAssignedIn(crowded)) === 0, ALL_WITHIN_MS);
  }, 120_000);

  it('stay with an agent who is active again in time', async () => {
    for (const worker of workers.splice(0)) await worker.close();
    const { workspace, agent } = await assigned();
    await setActive(workspace, agent, false);
    await setActive(workspace, agent, true);
    const other = await assigned();
    await setActive(other.workspace, other.agent, false);
    await startWorker();
    await waitFor('the other', async () => (await countAssigned(other.agent)) === 0);
    expect(await countAssigned(agent)).toBe(1);
  });
});
