import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { Permission, PERMISSIONS } from '../../../src/common/permissions';
import { buildProgram } from '../../../src/cli/program';
import { AgentRole } from '../../../src/common/agent-role';
import { Actor, actorIdOf, SYSTEM } from '../../../src/common/principal';
import { MessagingHost } from '../../support/messaging-host';
import { nameOf, WRITES } from '../../support/routes';
import { serviceMethods } from '../../support/service-methods';
import { subscribe, Subscription } from '../../support/webhook-workspace';
import { workspaceChanges } from './changes/workspace-changes';
import { agentChanges } from './changes/agent-changes';
import { apiKeyChanges } from './changes/api-key-changes';
import { webhookChanges } from './changes/webhook-changes';
import { parkedEventChanges } from './changes/parked-event-changes';
import { channelChanges } from './changes/channel-changes';
import { conversationChanges } from './changes/conversation-changes';
import { loginChanges } from './changes/login-changes';
import { READS, CONTENT, COMMANDS, WITHOUT_SERVICE, ROUTES } from './changes/known-methods';
import { Scenario } from './changes/scenario';

/** Secrets of the service, of which no entry may hold any part. */
const SECRETS = /whsec_|plk_|ciphertext|identitySecret|[0-9a-f]{64}/;

describe('every change of a workspace', () => {
  let host: MessagingHost;
  /** Host that encrypts with another key than `host`. */
  let rekeyed: MessagingHost;
  let subject: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
    const keys = ['new', 'test'].map((id, n) => `${id}:${Buffer.alloc(32, 6 + n).toString('base64')}`);
    rekeyed = await MessagingHost.create({ beside: host, secretsKeys: keys.join() });
  });
  afterAll(async () => {
    await rekeyed.close();
    await host.close();
  });
  beforeEach(async () => {
    subject = await subscribe(host, 'https://127.0.0.1:9999/hook');
  });

  /** Scenarios by the action of the audit entry that they expect. */
  const SCENARIOS: Record<string, Scenario> = {
    ...workspaceChanges(
      () => host,
      () => rekeyed,
    ),
    ...agentChanges(() => host),
    ...apiKeyChanges(() => host),
    ...webhookChanges(() => host),
    ...parkedEventChanges(() => host),
    ...channelChanges(() => host),
    ...conversationChanges(() => host),
    ...loginChanges(() => host),
  };
  /** Methods without a scenario of their own, each with a method that calls it and has one. */
  const COVERED: Record<string, string> = {
    'WebhookDeliveriesService.redeliverMany': 'WebhookDeliveriesService.redeliver',
    'ConversationsService.reopen': 'MessagesService.receive',
    'MessagesService.receiveInTransaction': 'MessagesService.receive',
    'AuditService.appendPipelined': 'AuditService.record',
  };

  const entries = ({ tenantId }: { tenantId: string }, action: string) =>
    host.query<{ id: string; transaction: string }>(
      `SELECT id, tenant_id AS "tenantId", entity, entity_id AS "entityId", actor_type AS "actorType",
         actor_id AS "actorId", actor_name AS "actorName", address, user_agent AS "userAgent",
         request_id AS "requestId", before, after, metadata, xmin::text AS transaction
       FROM audit_entries WHERE tenant_id = $1 AND action = $2 ORDER BY id`,
      [tenantId, action],
    );
  const events = ({ tenantId }: { tenantId: string }, action: string) =>
    host.query<{ data: object }>(
      `SELECT data, xmin::text AS transaction FROM events
       WHERE tenant_id = $1 AND type = 'audit.event' AND data ->> 'action' = $2 ORDER BY id`,
      [tenantId, action],
    );

  /** Returns everything that the scenarios change. */
  async function snapshot(): Promise<unknown[]> {
    const tables = ['agents', 'api_keys', 'channel_connections', 'contacts', 'conversations', 'messages'];
    const others = ['audit_entries', 'events', 'parked_events', 'webhook_endpoints', 'webhook_recoveries'];
    const deliveries = [
      'contact_erasures',
      'pending_deliveries',
      'webhook_deliveries',
      'pending_cancellations',
    ];
    const rows = [...tables, ...others, ...deliveries].map((table) =>
      host.query(`SELECT * FROM ${table} t WHERE tenant_id = $1 ORDER BY t::text`, [subject.workspace.id]),
    );
    const ofPeople = [
      'people',
      'memberships',
      'invitations',
      'login_sessions',
      'known_browsers',
      'password_resets',
      'second_factors',
      'recovery_codes',
      'workspaces',
    ].map((table) => host.query(`SELECT * FROM ${table} t ORDER BY t::text`));
    return Promise.all([...rows, ...ofPeople]);
  }

  const origin = { address: '203.0.113.7', userAgent: 'dashboard/2.1', requestId: 'r-1' };
  const ACTORS: Record<string, (agentId: string) => Actor> = {
    'an agent, from somewhere': (id) => ({ type: 'agent', id, origin }),
    'an operator': () => ({ type: 'operator', name: 'lin' }),
    'the system': () => SYSTEM,
  };

  describe.each(Object.entries(SCENARIOS))('%s', (name, scenario) => {
    const { prepare, permission, isAutomatic, isPersonal } = scenario;
    const [action] = name.split(',') as [string];
    const actors = Object.keys(ACTORS).filter((actor) => {
      if (isAutomatic) return actor === 'the system';
      if (isPersonal) return actor === 'an agent, from somewhere';
      const isForAgents = permission !== null && (PERMISSIONS[permission] as string[]).includes('OWNER');
      return isForAgents || actor !== 'an agent, from somewhere';
    });

    it.each(actors)('has one entry and one event, when done by %s', async (by) => {
      const actor = ACTORS[by]!(subject.agent.id);
      const act = await prepare(subject, actor);
      const own = { tenantId: subject.workspace.id };
      const before = (await entries(own, action)).map(({ id }) => id);

      const { metadata, tenantId = subject.workspace.id, entity, entityId, ...changed } = await act();

      const written = (await entries({ tenantId }, action)).filter(({ id }) => !before.includes(id));
      expect(written).toEqual([
        {
          id: expect.any(String),
          tenantId,
          entity,
          entityId,
          actorType: actor.type,
          actorId: actor.type === 'agent' ? actor.id : null,
          actorName: actor.type === 'operator' ? actor.name : null,
          ...(actor.origin ?? { address: null, userAgent: null, requestId: null }),
          before: null,
          after: null,
          metadata: metadata ?? {},
          ...changed,
          transaction: expect.any(String),
        },
      ]);
      expect(JSON.stringify(written)).not.toMatch(SECRETS);
      const told = await events({ tenantId }, action);
      expect(told.at(-1)).toEqual({
        data: {
          action,
          entity,
          entityId,
          actorId: actorIdOf(actor),
          metadata: { ...metadata, ...changed, ...(actor.origin && { origin: actor.origin }) },
        },
        // The entry was written by the same transaction.
        transaction: written[0]!.transaction,
      });
      expect(told).toHaveLength((await entries({ tenantId }, action)).length);
    });

    it('is undone with its entry: neither is there if either fails', async () => {
      const act = await prepare(subject, SYSTEM);
      const before = await snapshot();
      // The event, which is written last, is refused.
      await host.query(
        `ALTER TABLE events ADD CONSTRAINT refused CHECK (data ->> 'action' IS DISTINCT FROM '${action}') NOT VALID`,
      );
      try {
        await expect(act()).rejects.toMatchObject({ driverError: { constraint: 'refused' } });
      } finally {
        await host.query('ALTER TABLE events DROP CONSTRAINT refused');
      }
      expect(await snapshot()).toEqual(before);
    });

    if (permission !== null) {
      const holders: readonly string[] = PERMISSIONS[permission];
      const FORBIDDEN = { code: 'FORBIDDEN', message: expect.stringContaining(permission) };
      const NO_ACTOR = { code: 'INVALID_BODY', details: [{ field: 'actor' }] };
      const agent = (role: AgentRole, active = true) => ({
        make: async (): Promise<Actor> => {
          const { id } = await host.make.agent(subject.workspace, { role, active });
          return { type: 'agent', id };
        },
        refusal: !active ? NO_ACTOR : holders.includes(role) ? null : FORBIDDEN,
      });
      const CALLERS: Record<string, { make: () => Promise<Actor>; refusal: object | null }> = {
        'an OWNER': agent('OWNER'),
        'an ADMIN': agent('ADMIN'),
        'an AGENT': agent('AGENT'),
        'an inactive OWNER': agent('OWNER', false),
        'an OWNER of another workspace': {
          make: async () => {
            const { id } = await host.make.agent(await host.make.workspace());
            return { type: 'agent', id };
          },
          refusal: NO_ACTOR,
        },
        'nobody of an id': { make: () => Promise.resolve({ type: 'agent', id: 'nope' }), refusal: NO_ACTOR },
        'an operator without a name': {
          make: () => Promise.resolve({ type: 'operator', name: ' ' }),
          refusal: NO_ACTOR,
        },
        'an API key': {
          make: async () => ({ type: 'api_key', id: (await host.make.apiKey(subject.workspace)).id }),
          refusal: holders.includes('API_KEY') ? null : FORBIDDEN,
        },
      };

      it('is open to those alone who may do it, and is refused before anything changes', async () => {
        for (const [who, { make, refusal }] of Object.entries(CALLERS)) {
          subject = await subscribe(host, 'https://127.0.0.1:9999/hook');
          const act = await prepare(subject, await make());
          const before = await snapshot();
          const outcome = await act().catch((error: unknown) => error);
          if (refusal) expect({ who, outcome }).toMatchObject({ who, outcome: refusal });
          else expect({ who, outcome }).toMatchObject({ who, outcome: { entity: expect.any(String) } });
          if (refusal) expect(await snapshot()).toEqual(before);
        }
      });
    }
  });

  describe('is known here:', () => {
    const audited = Object.values(SCENARIOS).map(({ method }) => method);
    const known = new Set([...audited, ...Object.keys(COVERED), ...READS, ...CONTENT]);
    const writing = new Set([...audited, ...CONTENT]);

    it('every method of every service reads, has a scenario above, or writes content', () => {
      const methods = serviceMethods();
      expect(methods.length).toBeGreaterThan(40);
      expect(methods.filter((method) => !known.has(method))).toEqual([]);
      expect([...known].filter((method) => !methods.includes(method))).toEqual([]);
    });

    it('every command and every route that writes calls such a method', () => {
      const commands = leavesOf(buildProgram()).filter((path) => !WITHOUT_SERVICE.includes(path));
      expect(commands.sort()).toEqual(Object.keys(COMMANDS).sort());
      expect(WRITES.map(nameOf).sort()).toEqual(Object.keys(ROUTES).sort());
      const called = [...Object.values(COMMANDS), ...Object.values(ROUTES)];
      expect(called.filter((method) => method !== null && !writing.has(method))).toEqual([]);
    });

    it('every action is in the table of docs/audit.md', () => {
      const rows = readFileSync(resolve(__dirname, '../../../docs/audit.md'), 'utf8').split('\n');
      const actions = Object.keys(SCENARIOS).map((name) => name.split(',')[0]!);
      const isListed = (action: string) => {
        const [entity, act] = action.split('.');
        return rows.some((row) => row.startsWith(`| \`${entity}\``) && row.includes(`\`${act}\``));
      };
      expect(actions.filter((action) => !isListed(action))).toEqual([]);
    });

    it('every permission is required somewhere', () => {
      const required = new Set(Object.values(SCENARIOS).map(({ permission }) => permission));
      const byOthers: Permission[] = ['workspace.create', 'secret.reencrypt', 'login.manage'];
      expect([...required, ...byOthers].filter(Boolean).sort()).toEqual(Object.keys(PERMISSIONS).sort());
    });
  });
});

function leavesOf(command: Command, path = ''): string[] {
  return command.commands.flatMap((child) => {
    const childPath = `${path} ${child.name()}`.trim();
    return child.commands.length > 0 ? leavesOf(child, childPath) : [childPath];
  });
}
