import { SYSTEM } from '../../src/access/principal';
import { AgentsService } from '../../src/workspaces/agents.service';
import { killWorkers } from '../support/killed-workers';
import { MessagingHost } from '../support/messaging-host';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';

/** Number of conversations whose release takes a worker seconds. */
const MANY = 3_000;
const RELEASED_MS = 60_000;

describe('conversations of agents who were deactivated', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  const start = () => ServiceProcess.start('worker', host.stores);

  const released = async (): Promise<number> => {
    const [row] = await host.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM conversations WHERE assigned_agent_id IS NULL',
    );
    return row!.count;
  };

  it('become nobody’s once each, while workers are killed and others go on', async () => {
    const workspace = await host.make.workspace();
    const { id: contactId } = await host.make.contact(workspace);
    const agents = await Promise.all([1, 2, 3].map(() => host.make.agent(workspace, { role: 'AGENT' })));
    await host.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'WIDGET', CASE i % 2 WHEN 0 THEN 'OPEN' ELSE 'SNOOZED' END,
              ($3::uuid[])[1 + i % 3], now(), now()
       FROM generate_series(1, $4::integer) i`,
      [workspace.id, contactId, agents.map(({ id }) => id), MANY],
    );
    for (const { id } of agents)
      await host.get(AgentsService).update(workspace.id, id, { active: false }, SYSTEM);

    await killWorkers(host.stores, {
      count: released,
      kills: [100, 400],
      all: MANY,
      withinMs: RELEASED_MS,
    });
    await Promise.all([start(), start()]);
    await waitFor('all of them', async () => (await released()) === MANY, RELEASED_MS);

    const [counts] = await host.query(
      `SELECT count(*)::integer AS events, count(DISTINCT data->>'conversationId')::integer AS conversations,
              (SELECT count(*)::integer FROM audit_entries WHERE action = 'conversation.assigned') AS entries
       FROM events WHERE type = 'conversation.updated' AND (data->'assignedAgentId')::text = 'null'`,
    );
    expect(counts).toEqual({ events: MANY, conversations: MANY, entries: MANY });
    await waitFor('nobody to be left', async () => {
      const left = await host.query('SELECT FROM agents WHERE releases_conversations');
      return left.length === 0;
    });
  }, 240_000);
});
