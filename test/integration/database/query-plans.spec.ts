import { createHash } from 'node:crypto';
import type { Queue } from 'bull';
import { Client, escapeLiteral } from 'pg';
import { MessageStatusRepository } from '../../../src/messages/message-status.repository';
import { Metrics } from '../../../src/metrics/metrics';
import { LoadedConnection } from '../../../src/channels/connections/connection.loader';
import { OutboundMessageQueue } from '../../../src/channels/outbound/outbound-message-queue';
import { OutboundMessageRouter } from '../../../src/channels/outbound/outbound-message-router';
import { OutboundMessagesRepository } from '../../../src/channels/outbound/outbound-messages.repository';
import {
  BEFORE_ALL_MESSAGES,
  DueMessagesRepository,
} from '../../../src/channels/outbound/due-messages.repository';
import { AuditEntriesRepository } from '../../../src/audit/audit-entries.repository';
import { CHANNELS } from '../../../src/common/channel-descriptors';
import { newId } from '../../../src/common/ids';
import { ContactsRepository } from '../../../src/contacts/contacts.repository';
import { CONVERSATION_STATUSES } from '../../../src/conversations/conversation.entity';
import { ConversationsRepository } from '../../../src/conversations/conversations.repository';
import { Database } from '../../../src/database/database';
import { VisitorMessagesRepository } from '../../../src/channels/widget/visitor-messages.repository';

import { InvitationsRepository } from '../../../src/logins/invitations/invitations.repository';
import { LoginSessionsRepository } from '../../../src/logins/sessions/login-sessions.repository';
import { MembershipsRepository } from '../../../src/logins/people/memberships.repository';
import { PasswordResetsRepository } from '../../../src/logins/passwords/password-resets.repository';
import { PendingLoginsRepository } from '../../../src/logins/sessions/pending-logins.repository';
import { PeopleRepository } from '../../../src/logins/people/people.repository';
import { MessagesRepository } from '../../../src/messages/messages.repository';
import { ErasedIds } from '../../../src/secrets/erased-ids';
import { EventQueueRepository } from '../../../src/outbox/event-queue.repository';
import {
  BEFORE_ALL_DELIVERIES,
  DueDeliveriesRepository,
} from '../../../src/webhooks/deliveries/due-deliveries.repository';
import { PendingDeliveriesRepository } from '../../../src/webhooks/deliveries/pending-deliveries.repository';
import { Target } from '../../../src/queue/target';
import { AttemptRecord } from '../../../src/webhooks/deliveries/delivery';
import { DeliverySearch } from '../../../src/webhooks/browsing/delivery-search';
import { HistorySearchRepository } from '../../../src/webhooks/browsing/history-search.repository';
import { PendingSearchRepository } from '../../../src/webhooks/browsing/pending-search.repository';
import {
  AttemptRollupsRepository,
  ROLLUP_MS,
} from '../../../src/webhooks/rollups/attempt-rollups.repository';
import { WebhookEndpointsRepository } from '../../../src/webhooks/endpoints/webhook-endpoints.repository';
import { DatabaseClock } from '../../../src/database/database-clock';
import { Dashboard } from '../../support/dashboard';

const ROWS = 100_000;
const PAGE = 51;
/** So many of a workspace's contacts each search looks at first. */
const NEWEST = 200;
/** PostgreSQL compiles what costs more, which takes longer than any search. */
const JIT_ABOVE_COST = 100_000;
/** So many contacts of each search are compared. */
const COMPARED = 400;
/** Of 100,000 rows this tenant has 90 %, the next 9 %, then 1 %, and the last a handful. */
const TENANTS = [1, 2, 3, 4].map((n) => uuid(n));
const [BIG, , , TINY] = TENANTS as [string, string, string, string];
const CONVERSATION = sequential(2);
/** Of a visitor, who wrote half of its messages. */
const VISITOR_CONVERSATION = sequential(5);
const VISITOR_MESSAGES = 20_000;
const AGENTS = 5_000;
const ENDPOINTS = 20;
const EVENTS = 50_000;
const DELIVERED_EVENTS = 6_000;
const PENDING_EVENTS = 1_000;
/** Of a step of a search over all workspaces. */
const STEP_ROWS = 1_000;
/** Of each endpoint, eight days of five minutes. */
const ROLLUPS = 2_304;
const ROLLUPS_FROM = new Date('2026-11-01T00:00:00Z');

/** In SQL: ids that rise with the row's number, as those of UUIDv7 do. */
const ID = `(lpad(to_hex(i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;
const TENANT = `(ARRAY['${TENANTS.join("','")}']::uuid[])
  [CASE WHEN i % 20000 = 0 THEN 4 WHEN i % 100 = 1 THEN 3 WHEN i % 11 = 0 THEN 2 ELSE 1 END]`;

/** Partitions and their indexes, each with what it is a part of. */
const wholes = new Map<string, string>();

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Total Cost': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

interface Statement {
  sql: string;
  parameters: unknown[];
  /** Whether connections keep it, and so may run it by a plan that is made for all values. */
  isPrepared: boolean;
}

/** In the two forms in which statements reach a connection: the text and its parameters, or all in one. */
function toStatement([query, parameters]: unknown[]): Statement {
  if (typeof query === 'string')
    return { sql: query, parameters: Array.isArray(parameters) ? parameters : [], isPrepared: false };
  const { text, values, name } = query as { text: string; values: unknown[]; name?: string };
  return { sql: text, parameters: values, isPrepared: name !== undefined };
}

/** The plans that PostgreSQL makes on large tables for the statements that the repositories really send. */
describe('query plans', () => {
  let dashboard: Dashboard;
  let database: Client;
  let sent: jest.SpyInstance;

  beforeAll(async () => {
    dashboard = await Dashboard.create();
    // The clock's own statements, every ten seconds, would be taken for those of a call.
    await dashboard.app.get(DatabaseClock, { strict: false }).beforeApplicationShutdown();
    sent = jest.spyOn(Client.prototype, 'query');
    database = new Client({ connectionString: dashboard.stores.databaseUrl });
    await database.connect();
    await fill(dashboard.stores.databaseAdminUrl);
    const { rows } = await database.query<{ part: string; whole: string }>(
      'SELECT inhrelid::regclass::text AS part, inhparent::regclass::text AS whole FROM pg_inherits',
    );
    for (const { part, whole } of rows) wholes.set(part, whole);
  }, 60_000);
  afterAll(async () => {
    await database.end();
    await dashboard.close();
  });

  function statementsSent(): Statement[] {
    return sent.mock.calls.map(toStatement);
  }

  /**
   * The plans of what a call sends to the database, each run and rolled back, by what the statement begins
   * with. A prepared one has two: for its values, and for all values.
   */
  async function plansOf(
    call: () => Promise<unknown>,
    prefix = /^(SELECT|WITH|UPDATE|DELETE)/,
  ): Promise<PlanNode[]> {
    sent.mockClear();
    await call();
    const all = statementsSent();
    // Statements over queues come after one that sets how they are planned.
    const settings = all.find(({ sql }) => /set_config\(name/.test(sql))?.sql;
    const statements = all.filter(({ sql }) => prefix.test(sql.trim()) && !/advisory|set_config/.test(sql));
    expect(statements.length).toBeGreaterThan(0);
    const plans: PlanNode[] = [];
    for (const { sql, parameters, isPrepared } of statements) {
      plans.push(await explain(sql, parameters, settings));
      if (isPrepared) plans.push(await explainForAllValues(sql, parameters, settings));
    }
    return plans;
  }

  async function explain(sql: string, parameters: unknown[] = [], settings?: string): Promise<PlanNode> {
    await database.query('BEGIN');
    try {
      if (settings) await database.query(settings);
      const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
        parameters,
      );
      return rows[0]!['QUERY PLAN'][0].Plan;
    } finally {
      await database.query('ROLLBACK');
    }
  }

  async function explainForAllValues(
    sql: string,
    parameters: unknown[],
    settings?: string,
  ): Promise<PlanNode> {
    const values = parameters.map((value) => literalOf(value));
    await database.query(`SET plan_cache_mode = force_generic_plan; PREPARE statement AS ${sql}`);
    try {
      return await explain(
        `EXECUTE statement ${values.length > 0 ? `(${values.join()})` : ''}`,
        [],
        settings,
      );
    } finally {
      await database.query('DEALLOCATE statement; RESET plan_cache_mode');
    }
  }

  /**
   * A page costs a page: read from an index in its order, and next to nothing read to be thrown away. Where
   * nearly all of a tenant's rows pass the filter, the key's own order is as good.
   */
  function expectPage(plans: PlanNode[], index: string, key = index): void {
    for (const plan of plans) {
      expectInOrder(plan);
      expect([[index], [key]]).toContainEqual(indexesOf(plan));
      expect(rowsRead(plan)).toBeLessThanOrEqual(index === key ? PAGE : PAGE * 1.5);
    }
  }

  function expectInOrder(plan: PlanNode): void {
    const types = runNodesOf(plan).map((node) => node['Node Type']);
    for (const type of ['Seq Scan', 'Sort', 'Incremental Sort', 'Bitmap Heap Scan']) {
      expect(types).not.toContain(type);
    }
  }

  describe.each([
    ['first page', undefined],
    ['page in the middle', sequential(ROWS / 2)],
    ['page far down', sequential(3_000)],
  ])('%s', (_, cursor) => {
    it.each([BIG, TINY])('of the conversations of tenant %s, with every filter', async (tenantId) => {
      const repository = dashboard.app.get(ConversationsRepository);
      const plansFor = (filter: object) =>
        plansOf(() => repository.list(tenantId, { ...filter, cursor }, PAGE));

      expectPage(await plansFor({}), 'conversations_pkey');
      for (const status of CONVERSATION_STATUSES) {
        expectPage(await plansFor({ status }), 'conversations_status_idx', 'conversations_pkey');
        for (const channel of CHANNELS) {
          expectPage(await plansFor({ status, channel }), 'conversations_status_channel_idx');
        }
      }
      for (const channel of CHANNELS) expectPage(await plansFor({ channel }), 'conversations_channel_idx');
    });

    it('of the messages of one conversation', async () => {
      const repository = dashboard.app.get(MessagesRepository);
      expectPage(await plansOf(() => repository.list(BIG, CONVERSATION, cursor, PAGE)), 'messages_pkey');
    });

    it("of a visitor's messages, with the agents' names and the client's ids", async () => {
      const repository = new VisitorMessagesRepository(dashboard.get(Database), dashboard.get(ErasedIds));
      const list = () =>
        repository.list(BIG, VISITOR_CONVERSATION, { cursor, limit: PAGE - 1 }, { withUnsent: true });
      for (const plan of await plansOf(list)) {
        expectInOrder(plan);
        expect(indexesOf(plan).sort()).toEqual([
          'agents_pkey',
          'messages_pkey',
          'provider_messages_message_idx',
        ]);
        // One of each; PostgreSQL rounds the half of the rows that have a name up.
        expect(rowsRead(plan)).toBeLessThanOrEqual(3 * PAGE);
      }
    });

    it.each([BIG, TINY])('of the contacts of tenant %s', async (tenantId) => {
      const repository = dashboard.app.get(ContactsRepository);
      expectPage(await plansOf(() => repository.list(tenantId, { cursor }, PAGE)), 'contacts_pkey');
    });

    it('of an endpoint’s finished deliveries', async () => {
      const repository = dashboard.app.get(HistorySearchRepository);
      const plansFor = (filter: object) =>
        plansOf(
          () =>
            dashboard
              .get(Database)
              .queueTransaction((tx) =>
                repository.step(tx, BIG, { endpointId: endpoint(3), cursor, ...filter }, PAGE),
              ),
          /^WITH step/,
        );
      const filters: [object, string][] = [
        [{}, 'webhook_deliveries_endpoint_idx'],
        [{ event: 'message.created', statuses: ['SUCCEEDED'] }, 'webhook_deliveries_endpoint_idx'],
        [{ statusCodes: { from: 204, to: 204 } }, 'webhook_deliveries_endpoint_idx'],
        [{ statuses: ['EXHAUSTED'] }, 'webhook_deliveries_undelivered_idx'],
        [{ statuses: ['CANCELLED'] }, 'webhook_deliveries_undelivered_idx'],
        [{ error: 'timeout' }, 'webhook_deliveries_error_idx'],
        [{ error: 'dns' }, 'webhook_deliveries_error_idx'],
        [{ statusCodes: { from: 500, to: 599 } }, 'webhook_deliveries_error_idx'],
        [{ statusCodes: { from: 404, to: 404 } }, 'webhook_deliveries_status_code_idx'],
        [{ statusCodes: { from: 418, to: 418 } }, 'webhook_deliveries_status_code_idx'],
      ];
      for (const [filter, index] of filters) {
        const [plan] = await plansFor(filter);
        expect({ filter, indexes: indexesOf(plan!) }).toEqual({
          filter,
          indexes: expect.arrayContaining([index]),
        });
        expectOnlyIndexed(plan!, ['webhook_deliveries', 'pending_deliveries']);
        // The row itself, its latest round, and whether it is pending again.
        expect(rowsRead(plan!)).toBeLessThanOrEqual(PAGE * 4);
      }
    });

    it.each([BIG, TINY])(
      'of an export of the audit log of tenant %s, with every filter',
      async (tenantId) => {
        const repository = dashboard.app.get(AuditEntriesRepository);
        const filters: [object, string][] = [
          [{}, 'audit_entries_pkey'],
          [{ since: new Date(0), until: new Date() }, 'audit_entries_pkey'],
          [{ action: 'a7' }, 'audit_entries_action_idx'],
          [{ actor: 'operator:o7' }, 'audit_entries_actor_idx'],
          [{ entity: 'e7' }, 'audit_entries_entity_idx'],
          [{ entityId: '7' }, 'audit_entries_entity_id_idx'],
        ];
        for (const [filter, index] of filters)
          expectPage(await plansOf(() => repository.next(tenantId, filter, cursor ?? uuid(0), PAGE)), index);
      },
    );

    it('of a workspace’s pending deliveries, whatever fits', async () => {
      const repository = dashboard.app.get(PendingSearchRepository);
      for (const filter of [{}, { error: 'timeout' as const }, { statuses: ['CANCELLED' as const] }]) {
        const [plan] = await plansOf(
          () =>
            dashboard
              .get(Database)
              .queueTransaction((tx) => repository.step(tx, BIG, { ...filter, cursor }, PAGE)),
          /^WITH step/,
        );
        expectOnlyIndexed(plan!, ['pending_deliveries']);
        expect(rowsRead(plan!)).toBeLessThanOrEqual(PAGE * 2 + ENDPOINTS);
      }
    });

    it('of the deliveries of a conversation', async () => {
      const search = dashboard.get(DeliverySearch);
      for (const endpointId of [endpoint(3), undefined]) {
        const filter = { conversationId: CONVERSATION, endpointId, cursor };
        const plans = await plansOf(
          () => dashboard.get(Database).queueTransaction((tx) => search.step(tx, BIG, filter, PAGE)),
          /^(SELECT (id|d\.id)|WITH step)/,
        );
        expect(plans.flatMap(indexesOf)).toContain('events_conversation_idx');
        for (const plan of plans) {
          expectOnlyIndexed(plan, ['events', 'webhook_deliveries', 'pending_deliveries']);
          expect(rowsRead(plan)).toBeLessThanOrEqual(PAGE * (endpointId ? 4 : ENDPOINTS * 5));
        }
      }
    });

    it.each([BIG, TINY])('of the audit log of tenant %s, with every filter', async (tenantId) => {
      const repository = dashboard.app.get(AuditEntriesRepository);
      const plansFor = (filter: object) =>
        plansOf(() => repository.list(tenantId, { ...filter, cursor }, PAGE));

      expectPage(await plansFor({}), 'audit_entries_pkey');
      const range = { since: new Date(0), until: new Date() };
      expectPage(await plansFor(range), 'audit_entries_pkey');
      for (const filter of [{}, range]) {
        expectPage(await plansFor({ ...filter, action: 'a7' }), 'audit_entries_action_idx');
        for (const actor of [uuid(7), 'operator:o7', 'system'])
          expectPage(await plansFor({ ...filter, actor }), 'audit_entries_actor_idx');
        expectPage(await plansFor({ ...filter, entity: 'e7' }), 'audit_entries_entity_idx');
        expectPage(await plansFor({ ...filter, entityId: '7' }), 'audit_entries_entity_id_idx');
      }
    });
  });

  describe('contact search', () => {
    const search = (tenantId: string, q: string, cursor?: string) =>
      dashboard.app.get(ContactsRepository).list(tenantId, { q, cursor }, PAGE);

    /** Every statement's, by the plan that a connection keeps and by the one for its values. */
    async function expectRowsRead(call: () => Promise<unknown>, most: number): Promise<PlanNode[]> {
      const plans = await plansOf(call);
      for (const plan of plans) {
        expect(nodesOf(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
        expect(rowsRead(plan)).toBeLessThanOrEqual(most);
        expect(plan['Total Cost']).toBeLessThan(JIT_ABOVE_COST);
      }
      return plans;
    }

    it.each([
      ['a name', 'Quixada'],
      ['a name in another case', 'qUIXADA'],
      ['an e-mail address', 'person77777@'],
      ['a phone, however it is spaced', '+49 (170) 00 777-77'],
      ['nobody', 'Nobody at all'],
      ['nobody by three characters', '---'],
    ])('finds %s by its grams, after a look at the newest contacts', async (_, q) => {
      for (const plan of await expectRowsRead(() => search(BIG, q), NEWEST + ROWS / 50))
        expect(indexesRead(plan)).toEqual(['contacts_pkey', 'contacts_search_idx']);
    });

    it.each([
      ['everybody has', 'example.com', PAGE],
      ['one in 10 has', '8@', NEWEST + 10 * PAGE * 1.5],
      ['one in 8 has', 'Gül', NEWEST + 8 * PAGE * 1.5],
      ['one in 56 has', 'Gül Rossi', NEWEST + 56 * PAGE * 2],
    ])('finds what %s in the order of the list', async (_, q, most) => {
      for (const plan of await expectRowsRead(() => search(BIG, q), most))
        expect(indexesRead(plan)).toEqual(['contacts_pkey']);
    });

    it.each([
      ['is too short for grams', 'qx'],
      ['is a single character', '%'],
      ['many old contacts have', 'person2'],
    ])('goes step by step through the tenant’s own contacts for what %s', async (_, q) => {
      const plans = await expectRowsRead(() => search(BIG, q), 21_000);
      expect(plans.length).toBeGreaterThan(10);
    });

    it.each(['example.com', 'e', '%', '170', 'qx', '---', '17', '+17', '60 01 12', 'q x', 'person2'])(
      'never reads other tenants’ rows, not even for "%s"',
      (q) => expectRowsRead(() => search(TINY, q), 100),
    );

    it.each([
      'Quixada',
      'person2',
      '170 00',
      '9@',
      'Rossi',
      'Гül',
      'Фёдор',
      '1700077',
      '55',
      '+49 170 002',
      '@',
    ])('finds the same as a look at all contacts, page by page: %s', async (q) => {
      const digits = /^[\d +]+$/.test(q) ? q.replace(/\D/g, '') : null;
      for (const tenantId of [BIG, TINY]) {
        const { rows: expected } = await database.query<{ id: string }>(
          `SELECT id FROM contacts
             WHERE tenant_id = $1 AND (search_text LIKE '%' || lower($2) || '%' OR regexp_replace(phone, '\\D', '', 'g')
               LIKE '%' || $3 || '%') ORDER BY id DESC LIMIT ${COMPARED}`,
          [tenantId, q, digits],
        );
        const found: { id: string }[] = [];
        for (let page = found; found.length === 0 || page.length === PAGE;) {
          page = await search(tenantId, q, found.at(-1)?.id);
          found.push(...page);
          if (page.length === 0 || found.length >= COMPARED) break;
        }
        expect(found.slice(0, COMPARED).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }
    });

    it('finds the identities of a page by index', async () => {
      const ids = Array.from({ length: PAGE }, (_, i) => sequential(i + 1));
      for (const plan of await plansOf(() => dashboard.app.get(ContactsRepository).identitiesOf(BIG, ids))) {
        expect(indexesOf(plan)).toEqual(['contact_identities_contact_idx']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(PAGE);
      }
    });
  });

  describe('a login', () => {
    const PERSON = sequential(5);
    const hash = createHash('sha256')
      .update(`session ${ROWS / 2}`)
      .digest();

    beforeAll(() => run(dashboard.stores.databaseAdminUrl, PEOPLE), 60_000);

    /** By keys alone, and no more rows than the person has of anything. */
    async function expectOwnRows(call: () => Promise<unknown>, most: number): Promise<void> {
      for (const plan of await plansOf(call)) {
        expect(nodesOf(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
        expect(rowsRead(plan)).toBeLessThanOrEqual(most);
        expect(plan['Total Cost']).toBeLessThan(JIT_ABOVE_COST);
      }
    }

    it('is read on every request with the memberships of one person', async () => {
      const sessions = dashboard.get(LoginSessionsRepository);
      await expectOwnRows(() => sessions.authenticate(hash), 10);
      await expectOwnRows(() => sessions.findActive([hash]), 1);
      await expectOwnRows(() => sessions.markUsed(PERSON), 1);
      expect(await sessions.authenticate(hash)).toMatchObject({ memberships: [{ workspace: { id: BIG } }] });
    });

    it('is begun, listed and told by what the person has', async () => {
      await expectOwnRows(() => dashboard.get(PeopleRepository).findForLogin('p5@example.com', hash), 3);
      await expectOwnRows(() => dashboard.get(LoginSessionsRepository).list(PERSON), 5);
      await expectOwnRows(() => dashboard.get(MembershipsRepository).listActive(PERSON), 5);
      await expectOwnRows(() => dashboard.get(PendingLoginsRepository).countAttempt(hash), 1);
      await expectOwnRows(() => dashboard.get(PasswordResetsRepository).find(hash), 1);
      await expectOwnRows(() => dashboard.get(InvitationsRepository).find({ tenantId: BIG, hash }), 3);
    });
  });

  describe('the worker', () => {
    const requestsFor = (count: number, each = 5) =>
      Array.from({ length: count }, (_, n) => ({
        tenantId: BIG,
        endpointId: endpoint(n + 1),
        activation: 1,
        recovered: false,
        count: each,
      }));

    const inQueue = <T>(work: Parameters<Database['queueTransaction']>[0]) =>
      dashboard.get(Database).queueTransaction(work) as Promise<T>;

    it.each([
      ['one endpoint', 1],
      ['many endpoints', ENDPOINTS],
    ])('claims for %s from its own part of the index, and finds all else by its key', async (_, count) => {
      const store = dashboard.app.get(PendingDeliveriesRepository);
      const plans = await plansOf(
        () => inQueue((tx) => store.claim(tx, requestsFor(count), { leaseId: newId() })),
        /^WITH/,
      );

      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['pending_deliveries', 'events']);
        expect(indexesOf(plan).sort()).toEqual([
          'events_pkey',
          'pending_deliveries_endpoint_idx',
          'pending_deliveries_pkey',
        ]);
        expect(rowsRead(plan)).toBeLessThan(100 + count * 20);
      }
    });

    it('sees whether anything is due from the endpoint’s own part of the index', async () => {
      const target = { tenantId: BIG, id: endpoint(2) };
      const [plan] = await plansOf(() => dashboard.app.get(DueDeliveriesRepository).hasDue(target));
      expect(indexesOf(plan!)).toEqual(expect.arrayContaining(['pending_deliveries_endpoint_idx']));
      expectOnlyIndexed(plan!, ['pending_deliveries']);
      expect(rowsRead(plan!)).toBeLessThan(10);
    });

    it('polls in steps, however much is pending', async () => {
      const store = dashboard.app.get(DueDeliveriesRepository);
      const plans = [
        ...(await plansOf(() => store.findDue(BEFORE_ALL_DELIVERIES))),
        ...(await plansOf(() => store.findScheduled(new Date(0)))),
      ];
      expect(plans).toHaveLength(4);
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['pending_deliveries']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(STEP_ROWS);
      }
    });

    it('records outcomes by key', async () => {
      const store = dashboard.app.get(PendingDeliveriesRepository);
      const held = { leaseId: newId() };
      const [row] = await dashboard
        .get(Database)
        .queueTransaction((tx) => store.claim(tx, requestsFor(1, 1), held));
      const delivery = { ...row!, endpoint: { id: endpoint(1), tenantId: BIG }, held: { row: held } };
      const record = { delivery, row: held, outcome: null, status: 'PENDING', retryDelayMs: 60_000 };
      const plans = await plansOf(
        () => inQueue((tx) => store.settle(tx, [record as unknown as AttemptRecord & { row: typeof held }])),
        /^WITH/,
      );
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect(indexesOf(plan)).toEqual(expect.arrayContaining(['pending_deliveries_pkey']));
        expectOnlyIndexed(plan, ['pending_deliveries']);
        expect(rowsRead(plan)).toBeLessThan(10);
      }
    });

    it('cancels in steps, from the endpoint’s own part of the index', async () => {
      const store = dashboard.app.get(DueDeliveriesRepository);
      const target = { tenantId: BIG, id: endpoint(5) };
      const plans = await plansOf(() => inQueue((tx) => store.deleteStale(tx, target, 0, 500)), /^WITH/);
      for (const plan of plans) {
        expect(indexesOf(plan)).toEqual(expect.arrayContaining(['pending_deliveries_endpoint_idx']));
        expectOnlyIndexed(plan, ['pending_deliveries']);
        expect(rowsRead(plan)).toBeLessThan(10);
      }
    });

    it('takes events from the workspace’s own part of the queue', async () => {
      const queue = dashboard.app.get(EventQueueRepository);
      const limits = new Map([
        [BIG, 20],
        [TINY, 20],
      ]);
      const plans = await plansOf(() => inQueue((tx) => queue.claim(tx, limits, newId())), /^WITH/);
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect([...new Set(indexesOf(plan))].sort()).toEqual(['event_queue_pkey', 'events_pkey']);
        expectOnlyIndexed(plan, ['event_queue', 'events']);
        expect(rowsRead(plan)).toBeLessThan(200);
      }
    });

    it('adds to the rollups of attempts by key, and reads an endpoint’s own', async () => {
      const rollups = dashboard.app.get(AttemptRollupsRepository);
      const startsAt = new Date(ROLLUPS_FROM.getTime() + 1_000 * ROLLUP_MS);
      const rows = [3, 4].map((n) => ({
        tenantId: BIG,
        endpointId: endpoint(n),
        startsAt,
        outcomes: [1, 2],
        durations: [3],
      }));
      for (const plan of await plansOf(() => rollups.add(rows), /^INSERT/)) {
        expectOnlyIndexed(plan, ['attempt_rollups']);
        expect(rowsRead(plan)).toBeLessThan(50);
      }
      for (const plan of await plansOf(() => rollups.list(BIG, endpoint(3), startsAt))) {
        expect(indexesOf(plan)).toEqual(['attempt_rollups_pkey']);
        expect(rowsRead(plan)).toBe(ROLLUPS - 1_000);
      }
      const last = new Date(ROLLUPS_FROM.getTime() + (ROLLUPS - 288) * ROLLUP_MS);
      for (const plan of await plansOf(() => rollups.totals(BIG, [endpoint(3), endpoint(4)], last)))
        expect([indexesOf(plan), rowsRead(plan)]).toEqual([['attempt_rollups_pkey'], 2 * 288]);
    });

    it('locks the endpoints of workspaces by index', async () => {
      const endpoints = dashboard.app.get(WebhookEndpointsRepository);
      const plans = await plansOf(
        () => inQueue((tx) => endpoints.lockSubscribersOf(tx, [BIG, TINY])),
        /^WITH/,
      );
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['webhook_endpoints']);
        expect(rowsRead(plan)).toBeLessThan(ENDPOINTS * 5);
      }
    });

    it('claims a connection’s messages from the due index, and asks each whether it is the next by index', async () => {
      const statuses = dashboard.get(MessageStatusRepository);
      const store = new OutboundMessagesRepository(dashboard.get(Database), statuses);
      const connection = { id: uuid(501), tenantId: BIG } as LoadedConnection;
      const [ready] = await plansOf(() => store.countReady(connection, 25), /^SELECT count/);
      const [claim] = await plansOf(() => store.claim(connection, 25), /^WITH/);

      for (const plan of [ready!, claim!]) {
        expect(indexesOf(plan)).toEqual(
          expect.arrayContaining(['outbound_messages_due_idx', 'messages_unsent_idx']),
        );
        expectOnlyIndexed(plan, ['outbound_messages', 'messages', 'conversations']);
        expect(rowsRead(plan)).toBeLessThan(1_000);
      }
    });

    it('finds the messages of events by their keys, however many are queued', async () => {
      const queue = new OutboundMessageQueue({} as Queue<Target>); // nothing is queued
      const statuses = dashboard.get(MessageStatusRepository);
      const messages = new OutboundMessagesRepository(dashboard.get(Database), statuses);
      const router = new OutboundMessageRouter(messages, statuses, queue, dashboard.get(Metrics));
      const keys = Array.from({ length: 10 }, (_, n) => ({
        tenantId: BIG,
        conversationId: CONVERSATION,
        messageId: sequential(n + 1),
      }));
      const plans = await plansOf(
        () => dashboard.get(Database).queueTransaction((tx) => router.route(tx, keys)),
        /^(WITH|SELECT FROM)/,
      );

      for (const plan of plans) expect(rowsRead(plan)).toBeLessThan(150);
    });

    it('finds stale messages by index, a step at a time', async () => {
      const stale = new DueMessagesRepository(dashboard.get(Database));
      const plans = [
        ...(await plansOf(() => stale.findScheduled(new Date(0)))),
        ...(await plansOf(() => stale.findDue(BEFORE_ALL_MESSAGES))),
        ...(await plansOf(() => stale.findStuck(BEFORE_ALL_MESSAGES))),
      ];

      for (const plan of plans) {
        expectOnlyIndexed(plan, ['outbound_messages']);
        expect(rowsRead(plan)).toBeLessThan(1_100);
      }
    });
  });

  function expectOnlyIndexed(plan: PlanNode, tables: string[]): void {
    const scanned = scansOf(plan).filter((node) => tables.includes(wholeOf(node['Relation Name'] ?? '')));
    expect(scanned.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  }
});

/** A parameter as it stands in a text of SQL. */
function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (Buffer.isBuffer(value)) return escapeLiteral(`\\x${value.toString('hex')}`);
  if (value instanceof Date) return escapeLiteral(value.toISOString());
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(elementOf).join()}}`);
  return escapeLiteral(`${value as string | number}`);
}

/** A value as it stands in an array's literal. */
function elementOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  return JSON.stringify(`${value as string | number}`);
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Without partitions that the statement passed over. */
function runNodesOf(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
}

/** The partitioned table or index that a part belongs to, or else itself. */
function wholeOf(name: string): string {
  return wholes.get(name) ?? name;
}

function scansOf(plan: PlanNode): PlanNode[] {
  return runNodesOf(plan).filter((node) => node['Node Type'].endsWith('Scan'));
}

function indexesOf(plan: PlanNode): string[] {
  return runNodesOf(plan).flatMap((node) => (node['Index Name'] ? wholeOf(node['Index Name']) : []));
}

/** Without those that the plan has and its run did not need. */
function indexesRead(plan: PlanNode): string[] {
  const read = nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
  return [...new Set(read.flatMap((node) => node['Index Name'] ?? []))].sort();
}

/** Rows of tables that were looked at, whether or not they were wanted. */
function rowsRead(plan: PlanNode): number {
  return scansOf(plan)
    .filter((node) => node['Relation Name'])
    .map(
      (node) =>
        (node['Actual Rows'] +
          (node['Rows Removed by Filter'] ?? 0) +
          (node['Rows Removed by Index Recheck'] ?? 0)) *
        node['Actual Loops'],
    )
    .reduce((sum, rows) => sum + rows, 0);
}

function uuid(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

function endpoint(n: number): string {
  return uuid(100 + n);
}

/** The id of the row with this number. */
function sequential(i: number): string {
  const hex = i.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${hex}`;
}

/** Two connections at once, each with what the other does not wait for. */
async function fill(connectionString: string): Promise<void> {
  await run(connectionString, [
    `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
     SELECT id, 'Workspace', 'slug-' || n, 'PRO', now(), now()
     FROM unnest('{${TENANTS.join()}}'::uuid[]) WITH ORDINALITY w (id, n)`,
    `INSERT INTO agents (tenant_id, id, name, email, role, is_bot, active, created_at, updated_at)
     VALUES ('${BIG}', '${uuid(9)}', 'Ana', 'ana@example.com', 'OWNER', false, true, now(), now())`,
    OTHER_AGENTS,
    'ANALYZE agents',
    `INSERT INTO contacts (id, tenant_id, created_at, updated_at)
     SELECT id, id, now(), now() FROM workspaces`,
  ]);
  await Promise.all([
    run(connectionString, [CONTACTS, IDENTITIES, 'ANALYZE contacts, contact_identities', EVENTS_ROWS, AUDIT]),
    run(connectionString, [CONVERSATIONS, MESSAGES]),
  ]);
  // Statistics know little of queues, which fill and empty between two of them: here they know of nothing
  // queued.
  await run(connectionString, [
    'ANALYZE messages',
    ENDPOINT_ROWS,
    DELIVERIES,
    PENDING,
    EVENT_QUEUE,
    CONNECTIONS,
    VISITOR_MESSAGE_ROWS,
    PROVIDER_MESSAGES,
    'ANALYZE messages, provider_messages',
    QUEUED,
    OUTBOUND_MESSAGES,
    ROLLUP_ROWS,
  ]);
  await run(connectionString, [
    'ANALYZE conversations, events, audit_entries, webhook_endpoints, webhook_deliveries',
    'ANALYZE channel_connections, outbound_messages, attempt_rollups',
  ]);
}

async function run(connectionString: string, sql: string[]): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    for (const statement of sql) await client.query(statement);
  } finally {
    await client.end();
  }
}

const CONTACTS = `
  INSERT INTO contacts (id, tenant_id, name, email, phone, created_at, updated_at)
  SELECT ${ID}, ${TENANT},
    CASE WHEN i % 10007 = 3 THEN 'Zoë Quixada' ELSE
      (ARRAY['Ana','Ben','Cleo','Dora','Emil','Фёдор','Gül','Hana'])[1 + i % 8] || ' ' ||
      (ARRAY['Martin','Novak','Öztürk','Petrov','Rossi','Silva','Tanaka'])[1 + i % 7] END,
    'person' || i || '@example.com', '+49 170 ' || lpad(i::text, 7, '0'), now(), now()
  FROM generate_series(1, ${ROWS}) i`;

const IDENTITIES = `
  INSERT INTO contact_identities
  SELECT tenant_id, 'WHATSAPP', id::text, id, now() FROM contacts WHERE tenant_id <> id LIMIT 20000`;

/** Each with its tenant's one contact, so that contacts can be filled at the same time. */
const CONVERSATIONS = `
  INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, last_message_preview, last_message_at,
    created_at, updated_at)
  SELECT t, ${ID}, t, (ARRAY['${CHANNELS.join("','")}'])[CASE WHEN h < 60 THEN 1 WHEN h < 90 THEN 2 ELSE 3 + h % 3 END],
    CASE WHEN g < 90 THEN 'CLOSED' WHEN g < 99 THEN 'OPEN' ELSE 'SNOOZED' END,
    'Preview', now(), now(), now()
  FROM generate_series(1, ${ROWS}) i,
    LATERAL (SELECT ${TENANT} AS t, (i * 7919::bigint / 13) % 100 AS h, (i * 104729::bigint / 17) % 100 AS g) x`;

const MESSAGES = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', '${CONVERSATION}', ${ID}, 'AGENT', '${uuid(9)}', 'Message ' || i, 'SENT', now()
  FROM generate_series(1, ${ROWS}) i`;

const OTHER_AGENTS = `
  INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
  SELECT ${ID}, '${BIG}', 'Agent', i || '@example.com', 'AGENT', false, true, now(), now()
  FROM generate_series(1, ${AGENTS}) i`;

const VISITOR_MESSAGE_ROWS = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', '${VISITOR_CONVERSATION}', (lpad(to_hex(i * 5), 12, '0') || '70008000' || lpad(to_hex(i * 5), 12, '0'))::uuid, CASE WHEN i % 2 = 0 THEN 'CUSTOMER' ELSE 'AGENT' END,
    CASE WHEN i % 2 = 1 THEN '${uuid(9)}'::uuid END, 'Message ' || i, CASE WHEN i % 2 = 1 THEN 'SENT' END, now()
  FROM generate_series(1, ${VISITOR_MESSAGES}) i`;

const PROVIDER_MESSAGES = `
  INSERT INTO provider_messages (tenant_id, connection_id, provider_id, conversation_id, message_id, created_at)
  SELECT tenant_id, '${uuid(501)}', 'visitor:x ' || id, conversation_id, id, now() FROM messages
  WHERE tenant_id = '${BIG}' AND conversation_id = '${VISITOR_CONVERSATION}' AND sender_type = 'CUSTOMER'`;

/** Each an agent of the same workspace, with a session and all that a person may have. */
const PEOPLE = [
  `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
   SELECT ${ID}, '${BIG}', 'Ana', 'p' || i || '@example.com', 'AGENT', false, true, now(), now()
   FROM generate_series(1, ${ROWS}) i ON CONFLICT (tenant_id, id) DO NOTHING`,
  `INSERT INTO people (id, email, name, theme, password_hash, created_at)
   SELECT ${ID}, 'p' || i || '@example.com', 'Ana', 'auto', 'x', now() FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO memberships (tenant_id, agent_id, person_id, created_at)
   SELECT '${BIG}', ${ID}, ${ID}, now() FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO login_sessions (id, person_id, hash, created_at, last_used_at, expires_at)
   SELECT ${ID}, ${ID}, sha256(convert_to('session ' || i, 'UTF8')), now(), now(), now() + interval '1 hour'
   FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO known_browsers (id, person_id, hash, expires_at)
   SELECT id, person_id, hash, expires_at FROM login_sessions`,
  `INSERT INTO pending_logins (hash, person_id, attempt_count, expires_at)
   SELECT hash, person_id, 0, expires_at FROM login_sessions`,
  `INSERT INTO password_resets (hash, person_id, expires_at) SELECT hash, person_id, expires_at FROM login_sessions`,
  `INSERT INTO second_factors (person_id, secret_key_id, secret_ciphertext, confirmed_at)
   SELECT id, 'test', '\\x00', now() FROM people`,
  `INSERT INTO invitations (tenant_id, id, agent_id, hash, created_at, expires_at)
   SELECT '${BIG}', id, person_id, hash, now(), expires_at FROM login_sessions`,
  `ANALYZE agents, people, memberships, login_sessions, known_browsers, pending_logins, password_resets,
     second_factors, invitations`,
];

const EVENTS_ROWS = `
  INSERT INTO events (tenant_id, id, type, data, created_at)
  SELECT '${BIG}', ${ID}, 'message.created',
    json_build_object('conversationId', CASE WHEN i % 10 = 0 THEN '${CONVERSATION}' ELSE i::text END), now()
  FROM generate_series(1, ${EVENTS}) i`;

const EVENT_QUEUE = `
  INSERT INTO event_queue (tenant_id, event_id)
  SELECT '${BIG}', ${ID} FROM generate_series(${EVENTS - 5_000}, ${EVENTS}) i`;

const AUDIT = `
  INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, actor_id, actor_name, metadata,
    created_at)
  SELECT ${TENANT}, ${ID}, 'a' || i % 20, 'e' || i % 10, i % 50,
    (ARRAY['agent', 'operator', 'system'])[1 + i % 3],
    CASE WHEN i % 3 = 0 THEN ('00000000-0000-7000-8000-' || lpad((i % 20)::text, 12, '0'))::uuid END,
    CASE WHEN i % 3 = 1 THEN 'o' || i % 20 END, '{}', now()
  FROM generate_series(1, 20000) i`;

const ENDPOINT_ROWS = `
  INSERT INTO webhook_endpoints (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at,
    updated_at)
  SELECT ('00000000-0000-7000-8000-' || lpad((100 + n)::text, 12, '0'))::uuid, '${BIG}', 'https://example.com', '{*}',
    'test', '\\x00', true, now(), now()
  FROM generate_series(1, ${ENDPOINTS}) n`;

const DELIVERY = `
  SELECT (lpad(to_hex(e), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid AS id,
    ('00000000-0000-7000-8000-' || lpad((101 + i % ${ENDPOINTS})::text, 12, '0'))::uuid AS endpoint_id,
    (lpad(to_hex(e), 12, '0') || '70008000' || lpad(to_hex(e), 12, '0'))::uuid AS event_id, e - 1 AS n
  FROM generate_series(0, ${DELIVERED_EVENTS * ENDPOINTS - 1}) i, LATERAL (SELECT 1 + i / ${ENDPOINTS} AS e) x`;

/** Of each endpoint's, those of the first events are finished, and many of the last ones still wait. */
const DELIVERIES = `
  INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
    finished_at, status_code, error)
  SELECT '${BIG}', id, 1, endpoint_id, event_id, 'message.created',
    CASE WHEN n % 25 > 0 THEN 'SUCCEEDED' WHEN n % 50 = 0 THEN 'EXHAUSTED' ELSE 'CANCELLED' END, 1, now(),
    CASE WHEN n % 25 > 0 THEN 200 WHEN n % 75 = 0 THEN 404 WHEN n % 75 = 25 THEN 500 END,
    CASE WHEN n % 25 > 0 THEN NULL WHEN n % 75 < 50 THEN 'status' ELSE 'timeout' END
  FROM (${DELIVERY}) AS d
  WHERE n < ${DELIVERED_EVENTS - PENDING_EVENTS}`;

const PENDING = `
  INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
    recovered, next_attempt_at)
  SELECT '${BIG}', id, endpoint_id, 1, event_id, 'message.created', 1, n % 2, false, now() - n * interval '1 millisecond'
  FROM (${DELIVERY}) AS d WHERE n >= ${DELIVERED_EVENTS - PENDING_EVENTS}`;

const ROLLUP_ROWS = `
  INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations)
  SELECT '${BIG}', e.id, '${ROLLUPS_FROM.toISOString()}'::timestamptz + n * interval '5 minutes', '{10,1}', '{0,0,5,6}'
  FROM webhook_endpoints e, generate_series(0, ${ROLLUPS - 1}) n`;

/** A connection for each channel. */
const CONNECTIONS = `
  INSERT INTO channel_connections
  SELECT '${BIG}', ('00000000-0000-7000-8000-' || lpad((500 + n)::text, 12, '0'))::uuid, channel, n::text, n::text,
    '{}', 'test', '\\x00', NULL, 'ACTIVE', NULL, now(), now()
  FROM unnest('{${CHANNELS.join()}}'::text[]) WITH ORDINALITY AS c (channel, n)`;

/** Five in each of many conversations, the one with the long history among them. */
const QUEUED = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', c.id, (lpad(to_hex(${ROWS} + n * 5 + k), 12, '0') || '700080000000' || lpad(to_hex(k), 8, '0'))::uuid,
    'AGENT', '${uuid(9)}', 'Queued', 'QUEUED', now()
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM conversations WHERE tenant_id = '${BIG}' LIMIT 4000) c,
    generate_series(1, 5) k`;

/** Each conversation's over one of the connections. */
const OUTBOUND_MESSAGES = `
  INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at, waits)
  SELECT tenant_id, conversation_id, id,
    ('00000000-0000-7000-8000-' || lpad((501 + dense_rank() OVER (ORDER BY conversation_id) % 5)::text, 12, '0'))::uuid,
    now() - interval '1 hour' + row_number() OVER (ORDER BY id) * interval '1 millisecond',
    row_number() OVER (PARTITION BY conversation_id ORDER BY id) > 1
  FROM messages WHERE delivery_status = 'QUEUED'`;
