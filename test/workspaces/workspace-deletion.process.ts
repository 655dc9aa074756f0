import { AUDIT_TABLE } from '../../src/audit/audit-entries.repository';
import { AuditService } from '../../src/audit/audit.service';
import { idFloor, newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { LinksService } from '../../src/logins/links.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { connect } from '../support/connected-workspace';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { openRedis } from '../support/redis-connections';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TelegramSimulator } from '../support/simulators/telegram';
import { listTenantTables } from '../support/tenant-tables';
import { tracesInRedis } from '../support/traces';
import { letTimePass, waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';

/** Table of the deletions themselves. */
const DELETIONS = 'workspace_deletions';
/** Number of rows of a table that takes several steps. */
const MANY = 6_000;
/** Time that is longer than any counter in Redis lives. */
const COUNTERS_END_MS = 65_000;

describe('the deletion of a workspace', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ env: telegram.environment });
    telegram.hookOrigin = service.baseUrl;
    host = await MessagingHost.create({ beside: service });
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    for (const one of running) one.kill('SIGTERM');
    for (const { exited } of running.splice(0)) await exited;
  });

  const workspaces = () => service.app.get(WorkspacesService);
  const erase = ({ id }: { id: string }, graceDays?: number) =>
    workspaces().delete(id, { graceDays }, SYSTEM);
  const running: ServiceProcess[] = [];

  async function worker(): Promise<ServiceProcess> {
    const one = await ServiceProcess.start('worker', service.stores, telegram.environment);
    running.push(one);
    return one;
  }

  /** Returns the tables that have rows of a workspace. */
  async function tablesOf({ id }: { id: string }): Promise<string[]> {
    const found: string[] = [];
    for (const table of await listTenantTables(service)) {
      const rows = await service.query(`SELECT FROM ${table} WHERE tenant_id = $1 LIMIT 1`, [id]);
      if (rows.length > 0) found.push(table);
    }
    return found;
  }

  /** Returns all of a workspace's rows, by table. */
  async function contentOf({ id }: { id: string }): Promise<Record<string, unknown>> {
    const content: Record<string, unknown> = {};
    for (const table of await listTenantTables(service)) {
      [content[table]] = await service.query(
        `SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${table} t WHERE tenant_id = $1`,
        [id],
      );
    }
    return content;
  }

  /** Waits until the index of the messages' words is complete, so that no worker changes it any more. */
  function indexed({ id }: { id: string }): Promise<unknown> {
    return waitFor(
      'the index of the words of messages',
      async () => {
        const complete = await service.query(
          `SELECT FROM message_search_progress p WHERE tenant_id = $1 AND stage = 'DONE'
           AND indexed_until >= (SELECT max(id::text) FROM messages WHERE tenant_id = $1)::uuid
           AND NOT EXISTS (SELECT FROM messages m LEFT JOIN message_search s ON s.tenant_id = $1 AND s.message_id = m.id
                           WHERE m.tenant_id = $1 AND s.terms IS NULL)`,
          [id],
        );
        return complete.length === 1;
      },
      30_000,
    );
  }

  const isGone = async ({ id }: { id: string }) =>
    (await service.query('SELECT FROM workspaces WHERE id = $1', [id])).length === 0;

  /** Makes a workspace with rows in every table, none of which is being worked on. */
  async function furnish(): Promise<Furnished> {
    const tenant = await createTenant(service);
    const { workspace, conversation, client } = tenant;
    const key = { 'idempotency-key': newId() };
    await client.with(key).post(`/conversations/${conversation.id}/messages`, { body: 'Hello' });
    const given = { url: receiver.url(), events: ['*'] };
    const endpoint = await host.get(WebhookEndpointsService).create(workspace.id, given, SYSTEM);
    await addLogins(workspace);
    const token = TelegramSimulator.token(++lastBot);
    const connection = await connect(service, workspace, 'TELEGRAM', { botToken: token });
    expect(await telegram.write(token, 4711, 'Hello')).toBe(200);
    const widget = await TestWidget.connect(service, workspace);
    await (await widget.visitor()).post('1', 'Hello');
    const [message] = await service.query<{ conversation: string; id: string }>(
      `SELECT conversation_id AS conversation, id FROM messages WHERE tenant_id = $1 AND sender_type = 'AGENT'`,
      [workspace.id],
    );
    await service.query(
      `UPDATE event_queue SET lease_id = gen_random_uuid(), lease_until = now() + interval '1 day' WHERE tenant_id = $1`,
      [workspace.id],
    );
    const inserts = [
      `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
       VALUES ($1, $3, $4, $5, now() + interval '1 day')`,
      `INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, created_at)
       VALUES ($1, $5, 'early', 'READ', now())`,
      `INSERT INTO early_changes (tenant_id, connection_id, provider_id, body, created_at)
       VALUES ($1, $5, 'early', 'corrected', now())`,
      `INSERT INTO unsent_messages (tenant_id, conversation_id, message_id, cursor, due_at)
       VALUES ($1, $3, $4, $4, now() + interval '1 day')`,
      `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at)
       SELECT $1, event_id, 'webhooks', 'broken', now() FROM event_queue WHERE tenant_id = $1 LIMIT 1`,
      `INSERT INTO contact_erasures (tenant_id, id, contact_id, status, cursor_conversation_id, cursor_message_id, due_at, created_at, finished_at)
       SELECT tenant_id, gen_random_uuid(), contact_id, 'COMPLETED', id, id, now(), now(), now()
       FROM conversations WHERE tenant_id = $1 AND id = $3`,
      `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, status, total, cursor, created_at, finished_at)
       VALUES ($1, gen_random_uuid(), $2, now(), now(), 'COMPLETED', 0, $2, now(), now())`,
      `INSERT INTO recovery_outcomes (tenant_id, recovery_id, id, succeeded, exhausted, cancelled)
       VALUES ($1, gen_random_uuid(), $2, 1, 0, 0)`,
      `INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation, created_at)
       VALUES ($1, gen_random_uuid(), 1, now() + interval '1 day')`,
      `INSERT INTO automatic_recoveries (tenant_id, endpoint_id, state, since, misses, created_at)
       VALUES ($1, $2, 'STOPPED', now(), 1, now())`,
      `INSERT INTO pending_deliveries
       SELECT $1, id, $2, 1, id, 'message.created', 1, 0, false, now() + interval '1 day'
       FROM events WHERE tenant_id = $1 LIMIT 1`,
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count, finished_at)
       SELECT $1, id, 1, $2, id, 'message.created', 'EXHAUSTED', 2, now() FROM events WHERE tenant_id = $1`,
      `INSERT INTO webhook_attempts (tenant_id, delivery_id, round, attempt)
       SELECT $1, id, 1, 1 FROM events WHERE tenant_id = $1`,
      `INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations)
       VALUES ($1, $2, now(), '{1}', '{1}'), ($1, $2, now() - interval '5 minutes', '{1}', '{1}')`,
      `INSERT INTO queue_floors (tenant_id, queue, part, floor, saved_at) VALUES ($1, 'events', '', now(), now())`,
      `INSERT INTO notes (tenant_id, id, conversation_id, author_agent_id, body, created_at)
       SELECT tenant_id, gen_random_uuid(), $3, id, 'Ask Ana.', now() FROM agents WHERE tenant_id = $1 LIMIT 1`,
      `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at)
       SELECT tenant_id, id, $3, 'Dear', now() FROM agents WHERE tenant_id = $1`,
      `INSERT INTO saved_replies (tenant_id, id, name, body, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), 'Thanks', 'Thank you.', now(), now())`,
      `INSERT INTO read_marks (tenant_id, agent_id, conversation_id, message_id, is_unread)
       SELECT tenant_id, id, $3, $4, false FROM agents WHERE tenant_id = $1`,
      `INSERT INTO second_factor_demands (tenant_id, grace_days, demanded_at) VALUES ($1, 7, now())`,
      `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at)
       VALUES ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now())`,
      `INSERT INTO alert_mailboxes (tenant_id, agent_id)
       SELECT tenant_id, id FROM agents WHERE tenant_id = $1`,
      'INSERT INTO file_usage (tenant_id, bytes) VALUES ($1, 7)',
      `INSERT INTO files (tenant_id, id, name, size, created_at) VALUES ($1, $4, 'a.txt', 7, now())`,
      `INSERT INTO attachments (tenant_id, id, conversation_id, message_id, position, file_id, kind, state, created_at)
       VALUES ($1, gen_random_uuid(), $3, $4, 0, $4, 'FILE', 'READY', now())`,
      `INSERT INTO attachment_fetches (tenant_id, id, connection_id, reference_key_id, reference_ciphertext, created_at)
       VALUES ($1, gen_random_uuid(), $5, 'test', '\\x00', now())`,
      `INSERT INTO message_parts (tenant_id, conversation_id, message_id, position, id, content, status, attempt_count,
         created_at)
       VALUES ($1, $3, $4, 0, gen_random_uuid(), 'TEXT', 'QUEUED', 0, now())`,
      `INSERT INTO provider_files (tenant_id, connection_id, file_id, form, reference, expires_at)
       VALUES ($1, $5, gen_random_uuid(), 'image', 'r', now() + interval '1 day')`,
      `INSERT INTO answer_addresses (tenant_id, conversation_id, email, locale, created_at)
       VALUES ($1, $3, 'zoe@example.com', 'en', now())`,
      `INSERT INTO answer_notices (tenant_id, id, conversation_id, connection_id, message_id, created_at)
       VALUES ($1, $4, $3, $5, $4, now())`,
      `INSERT INTO agent_notice_choices (tenant_id, agent_id, mail_matters, mail_after_minutes, push_matters,
         push_after_minutes, updated_at)
       SELECT tenant_id, id, '{MINE}', 240, '{}', 0, now() FROM agents WHERE tenant_id = $1`,
      `INSERT INTO agent_notices (tenant_id, id, agent_id, way, conversation_id, matter, subject_id, created_at)
       SELECT tenant_id, gen_random_uuid(), id, 'MAIL', $3, 'MINE', $4, now() FROM agents WHERE tenant_id = $1`,
    ];
    const values = [workspace.id, endpoint.id, message!.conversation, message!.id, connection.id];
    for (const insert of inserts) {
      const used = values.filter((_, n) => insert.includes(`$${n + 1}`));
      let at = 0;
      const numbers = new Map(
        values.flatMap((_, n) => (insert.includes(`$${n + 1}`) ? [[n + 1, ++at]] : [])),
      );
      await service.query(
        insert.replace(/\$(\d)/g, (_, n: string) => `$${numbers.get(Number(n))}::uuid`),
        used,
      );
    }
    return { ...tenant, token, widget };
  }

  /** Adds an agent with a login, and an agent who is invited. */
  async function addLogins(workspace: { id: string }): Promise<void> {
    const [member, invited] = [await service.make.agent(workspace), await service.make.agent(workspace)];
    const invitations = host.get(InvitationsService);
    const { link } = await invitations.invite(workspace.id, member.id, {}, SYSTEM);
    const token = link!.split('#')[1]!;
    await host.get(LinksService).accept(token, { password: 'furnished for deletion' });
    await invitations.invite(workspace.id, invited.id, {}, SYSTEM);
  }

  /** Adds many events, of yesterday and of today. */
  async function addEvents({ id }: { id: string }, count: number): Promise<void> {
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, (CASE WHEN n % 2 = 0 THEN $3 ELSE $4 END || right(gen_random_uuid()::text, 23))::uuid,
              'message.created', '{}', now()
       FROM generate_series(1, $2::integer) AS n`,
      [id, count, newId().slice(0, 13), idFloor(new Date(Date.now() - 86_400_000)).slice(0, 13)],
    );
  }

  describe('with the whole of one, and another beside it', () => {
    let deleted: Furnished;
    let neighbour: Furnished;
    let before: Record<string, unknown>;

    beforeAll(async () => {
      deleted = await furnish();
      neighbour = await furnish();
      await addEvents(deleted.workspace, MANY);
      await waitFor('the times of the latest messages, which are written in the background', async () => {
        const late = await service.query(
          'SELECT FROM channel_connections WHERE tenant_id = $1 AND last_received_at IS NULL',
          [neighbour.workspace.id],
        );
        return late.length === 0;
      });
      const indexing = await worker();
      await indexed(deleted.workspace);
      await indexed(neighbour.workspace);
      indexing.kill('SIGTERM');
      await indexing.exited;
      before = await contentOf(neighbour.workspace);
    }, 60_000);

    it('has rows in every table', async () => {
      const all = (await listTenantTables(service)).filter((table) => table !== DELETIONS);
      expect(await tablesOf(deleted.workspace)).toEqual(all);
      expect(await tablesOf(neighbour.workspace)).toEqual(all);
    });

    it('goes on after a worker is killed, until nothing is left', async () => {
      const { workspace, client, token, widget, key } = deleted;
      const hook = new URL(telegram.webhooks.get(token)!.url).pathname;
      const killed = await worker();
      expect(await erase(workspace, 0)).toMatchObject({
        workspaceId: workspace.id,
        slug: workspace.slug,
        status: 'scheduled',
        startedAt: null,
        deletedRows: 0,
      });
      const partly = await waitFor('some rows to go', async () => {
        const deletion = await workspaces().getDeletion(workspace.id, SYSTEM);
        return deletion.deletedRows > MANY / 6 && deletion;
      });
      killed.kill('SIGKILL');
      await killed.exited;
      expect(partly).toMatchObject({ status: 'running', startedAt: expect.any(Date) });
      expect(await tablesOf(workspace)).toContain(AUDIT_TABLE);
      // The deletion looks as if agents came next while rows that refer to them are left: it begins again.
      await service.query(
        `UPDATE workspace_deletions SET table_name = 'agents', cursor = NULL WHERE tenant_id = $1`,
        [workspace.id],
      );

      const other = await worker();
      await waitFor('the end of the deletion', () => isGone(workspace), 60_000);
      other.kill('SIGTERM');
      await other.exited;

      expect(await tablesOf(workspace)).toEqual([]);
      await expect(workspaces().getBySlug(workspace.slug, SYSTEM)).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      expect((await client.get('/me')).status).toBe(401);
      expect(key.key).toMatch(/^plk_/);
      expect(telegram.webhooks.has(token)).toBe(false);
      const unknown = await service.client.send({
        method: 'POST',
        path: hook.replace(/.{4}$/, 'XXXX'),
        body: {},
      });
      const refused = await service.client.send({ method: 'POST', path: hook, body: {} });
      expect(refused.status).toBe(unknown.status);
      expect((await widget.page().open()).status).toBe(404);
    }, 120_000);

    it('leaves the other workspace as it was', async () => {
      expect(await contentOf(neighbour.workspace)).toEqual(before);
      expect((await neighbour.client.get('/me')).status).toBe(200);
    });

    it('leaves nothing in Redis but counters that end within a minute', async () => {
      const { workspace } = deleted;
      const redis = openRedis(service.stores.redisUrl);
      try {
        const left = await tracesInRedis(service, [workspace.id]);
        const lives = await Promise.all(left.map(async (key) => ({ key, ms: await redis.pttl(key) })));
        // A negative life is that of a key that has ended (-2), or that has no end (-1).
        expect(lives.filter(({ ms }) => ms === -1 || ms > COUNTERS_END_MS)).toEqual([]);
      } finally {
        redis.disconnect();
      }
    });

    it('frees the slug', async () => {
      const { name, slug } = deleted.workspace;
      expect(await workspaces().create({ name, slug, planTier: 'PRO' })).toMatchObject({ slug });
    });
  });

  it('does not hold up a small one by a big one', async () => {
    const [big, small] = [await service.make.workspace(), await service.make.workspace()];
    await addEvents(big, 12 * MANY);
    await erase(big, 0);
    const running = await worker();
    await waitFor('rows of the big one to go', async () => {
      return (await workspaces().getDeletion(big.id, SYSTEM)).deletedRows > 0;
    });
    await erase(small, 0);
    await waitFor('the end of the small one', () => isGone(small));
    expect(await workspaces().getDeletion(big.id, SYSTEM)).toMatchObject({ status: 'running' });
    await waitFor('the end of the big one', () => isGone(big), 60_000);
    running.kill('SIGTERM');
    await running.exited;
  }, 120_000);

  describe('in its days of grace', () => {
    it('suspends the workspace, and can be cancelled', async () => {
      const { workspace, client } = await createTenant(service);
      const running = await worker();
      const { dueAt, requestedAt } = await erase(workspace);
      expect(dueAt.getTime() - requestedAt.getTime()).toBe(30 * 86_400_000);
      expect((await client.get('/me')).body.error.code).toBe('WORKSPACE_SUSPENDED');
      await expect(workspaces().resume(workspace.id, SYSTEM)).rejects.toMatchObject({ code: 'INVALID_BODY' });
      await letTimePass(2_500);
      expect(await workspaces().getDeletion(workspace.id, SYSTEM)).toMatchObject({
        status: 'scheduled',
        deletedRows: 0,
      });

      expect(await workspaces().cancelDeletion(workspace.id, SYSTEM)).toMatchObject({ suspendedAt: null });
      expect((await client.get('/me')).status).toBe(200);
      await expect(workspaces().getDeletion(workspace.id, SYSTEM)).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      await expect(workspaces().cancelDeletion(workspace.id, SYSTEM)).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      const { data } = await service.app.get(AuditService).list(workspace.id, { limit: 4 }, SYSTEM);
      const actions = data.map(({ action }) => action);
      expect(actions).toEqual([
        'workspace.resumed',
        'workspace.deletion_cancelled',
        'workspace.suspended',
        'workspace.deletion_scheduled',
      ]);
      running.kill('SIGTERM');
      await running.exited;
    }, 60_000);
  });
});

let lastBot = 7_800_000;

interface Furnished {
  workspace: WorkspaceEntity;
  client: Awaited<ReturnType<typeof createTenant>>['client'];
  key: { key: string };
  token: string;
  widget: TestWidget;
}
