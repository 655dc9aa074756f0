import { AgentRole, PERMISSIONS } from '../../../src/access/permissions';
import { Actor, actorIdOf, SYSTEM } from '../../../src/access/principal';
import { MessagingHost } from '../../support/messaging-host';
import { subscribe, Subscription } from '../../support/webhook-workspace';
import { Scenario } from './scenario';

/** Address whose path lets who knows it write there. */
const HOOK = 'https://127.0.0.1:9999/services/T1/cApAbIlItY?key=cApAbIlItY';
/**
 * Secrets of the service and of its endpoints, of which no entry may hold any part. The hash of a test's
 * body is none.
 */
const SECRETS = /whsec_|plk_|ciphertext|identitySecret|(?<!"(?:bodySha256|sha256)":")[0-9a-f]{64}|cApAbIlItY/;

const origin = { address: '203.0.113.7', userAgent: 'dashboard/2.1', requestId: 'r-1' };
const AN_AGENT = 'an agent, from somewhere';
const ACTORS: Record<string, (agentId: string) => Actor> = {
  [AN_AGENT]: (id) => ({ type: 'agent', id, origin }),
  'an operator': () => ({ type: 'operator', name: 'lin' }),
  'the system': () => SYSTEM,
};

/** Events of an endpoint that an API key with the scopes to read them may change. */
const FOR_KEYS = ['message.created', 'conversation.updated'];

/** Tables that the scenarios change, whose rows are of one workspace. */
const TABLES = [
  'agents',
  'api_keys',
  'audit_entries',
  'automatic_recoveries',
  'channel_connections',
  'contact_erasures',
  'contacts',
  'conversations',
  'events',
  'messages',
  'notes',
  'parked_events',
  'pending_cancellations',
  'pending_deliveries',
  'saved_replies',
  'second_factor_demands',
  'webhook_deliveries',
  'webhook_endpoints',
  'webhook_recoveries',
];
/** Tables that the scenarios change, whose rows are of people or of all workspaces. */
const SHARED_TABLES = [
  'invitations',
  'known_browsers',
  'login_sessions',
  'memberships',
  'password_resets',
  'people',
  'recovery_codes',
  'second_factors',
  'workspaces',
];

interface Caller {
  make: (subject: Subscription) => Promise<Actor>;
  /** Error that refuses the caller; null if the caller may do it. */
  refusal: object | null;
}

/**
 * Tests each scenario for its entry and event, for what is left of it when it fails, and for who may do it.
 * @param list makes the scenarios, by the action of the audit entry that they expect; `rekeyed` is a host
 *   that encrypts with another key than `host`
 */
export function testChanges(
  list: (host: () => MessagingHost, rekeyed: () => MessagingHost) => Record<string, Scenario>,
): void {
  let host: MessagingHost;
  let rekeyed: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
    const keys = ['new', 'test'].map((id, n) => `${id}:${Buffer.alloc(32, 6 + n).toString('base64')}`);
    rekeyed = await MessagingHost.create({ beside: host, secretsKeys: keys.join() });
  });
  afterAll(async () => {
    await rekeyed.close();
    await host.close();
  });

  const scenarios = list(
    () => host,
    () => rekeyed,
  );

  describe.each(Object.entries(scenarios))('%s', (name, scenario) => {
    const { prepare, permission, isAutomatic, isPersonal } = scenario;
    const [action] = name.split(',') as [string];
    const actors = Object.keys(ACTORS).filter((actor) => {
      if (isAutomatic) return actor === 'the system';
      if (isPersonal) return actor === AN_AGENT;
      const isForAgents = permission !== null && (PERMISSIONS[permission] as string[]).includes('OWNER');
      return isForAgents || actor !== AN_AGENT;
    });

    it.each(actors)('has one entry and one event, when done by %s', async (by) => {
      const subject = await subscribe(host, HOOK);
      const actor = ACTORS[by]!(subject.agent.id);
      const act = await prepare(subject, actor);
      const own = { tenantId: subject.workspace.id };
      const before = (await entriesOf(host, own, action)).map(({ id }) => id);

      const { metadata, tenantId = subject.workspace.id, entity, entityId, ...changed } = await act();

      const written = (await entriesOf(host, { tenantId }, action)).filter(({ id }) => !before.includes(id));
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
      const events = await eventsOf(host, { tenantId }, action);
      expect(JSON.stringify(events)).not.toMatch(SECRETS);
      expect(events.at(-1)).toEqual({
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
      expect(events).toHaveLength((await entriesOf(host, { tenantId }, action)).length);
    });

    it('is undone with its entry: neither is there if either fails', async () => {
      const subject = await subscribe(host, HOOK);
      const act = await prepare(subject, isPersonal ? ACTORS[AN_AGENT]!(subject.agent.id) : SYSTEM);
      const before = await snapshot(host, subject);
      // The event, which is written last, is refused.
      await host.query(
        `ALTER TABLE events ADD CONSTRAINT refused CHECK (data ->> 'action' IS DISTINCT FROM '${action}') NOT VALID`,
      );
      try {
        // The name of a node's constraint is in its message alone.
        await expect(act()).rejects.toMatchObject({
          driverError: { code: '23514', message: expect.stringMatching(/constraint "refused(_\d+)?"/) },
        });
      } finally {
        await host.query('ALTER TABLE events DROP CONSTRAINT refused');
      }
      expect(await snapshot(host, subject)).toEqual(before);
    });

    if (permission !== null) {
      const holders: readonly string[] = PERMISSIONS[permission];
      const FORBIDDEN = { code: 'FORBIDDEN', message: expect.stringContaining(permission) };
      const NO_ACTOR = { code: 'INVALID_BODY', details: [{ field: 'actor' }] };
      const agent = (role: AgentRole, active = true): Caller => ({
        make: async (subject) => {
          const { id } = await host.make.agent(subject.workspace, { role, active });
          return { type: 'agent', id };
        },
        refusal: !active ? NO_ACTOR : holders.includes(role) ? null : FORBIDDEN,
      });
      const CALLERS: Record<string, Caller> = {
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
          make: async (subject) => {
            const { id, scopes } = await host.make.apiKey(subject.workspace);
            return { type: 'api_key', id, scopes };
          },
          refusal: holders.includes('API_KEY') ? null : FORBIDDEN,
        },
      };

      it('is open to those alone who may do it, and is refused before anything changes', async () => {
        for (const [who, { make, refusal }] of Object.entries(CALLERS)) {
          const subject = await subscribe(host, HOOK, { events: FOR_KEYS });
          const act = await prepare(subject, await make(subject));
          const before = refusal && (await snapshot(host, subject));
          const outcome = await act().catch((error: unknown) => error);
          if (refusal) expect({ who, outcome }).toMatchObject({ who, outcome: refusal });
          else expect({ who, outcome }).toMatchObject({ who, outcome: { entity: expect.any(String) } });
          if (refusal) expect(await snapshot(host, subject)).toEqual(before);
        }
      });
    }
  });
}

const entriesOf = (host: MessagingHost, { tenantId }: { tenantId: string }, action: string) =>
  host.query<{ id: string; transaction: string }>(
    `SELECT id, tenant_id AS "tenantId", entity, entity_id AS "entityId", actor_type AS "actorType",
       actor_id AS "actorId", actor_name AS "actorName", address, user_agent AS "userAgent",
       request_id AS "requestId", before, after, metadata, xmin::text AS transaction
     FROM audit_entries WHERE tenant_id = $1 AND action = $2 ORDER BY id`,
    [tenantId, action],
  );
const eventsOf = (host: MessagingHost, { tenantId }: { tenantId: string }, action: string) =>
  host.query<{ data: object }>(
    `SELECT data, xmin::text AS transaction FROM events
     WHERE tenant_id = $1 AND type = 'audit.event' AND data ->> 'action' = $2 ORDER BY id`,
    [tenantId, action],
  );

/** Returns the rows of everything that the scenarios change, a line each, by table. */
async function snapshot(host: MessagingHost, { workspace }: Subscription): Promise<unknown> {
  const rowsOf = (table: string, condition: string) =>
    `(SELECT string_agg(t::text, E'\\n' ORDER BY t::text) FROM ${table} t WHERE ${condition}) AS ${table}`;
  const columns = [
    ...TABLES.map((table) => rowsOf(table, 'tenant_id = $1')),
    ...SHARED_TABLES.map((table) => rowsOf(table, 'true')),
  ];
  const [rows] = await host.query(`SELECT ${columns.join(', ')}`, [workspace.id]);
  return rows;
}
