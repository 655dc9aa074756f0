import { createHash } from 'node:crypto';
import { MessageStatusRepository } from '../../src/messages/message-status.repository';
import { Metrics } from '../../src/metrics/metrics';
import { LoadedConnection } from '../../src/channels/connections/connection-loader';
import { OutboundMessageRouter } from '../../src/channels/outbound/outbound-message-router';
import { ReplyChecksRepository } from '../../src/channels/outbound/reply-checks.repository';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import {
  failUnconnectedSql,
  RoutedMessagesRepository,
} from '../../src/channels/outbound/routed-messages.repository';
import {
  BEFORE_ALL_MESSAGES,
  DueMessagesRepository,
} from '../../src/channels/outbound/due-messages.repository';
import { FilesRepository } from '../../src/attachments/files/files.repository';
import { AuditEntriesRepository } from '../../src/audit/audit-entries.repository';
import { Channel, CHANNELS } from '../../src/common/channel-descriptors';
import { HIGHEST_ID, LOWEST_ID, newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ContactsRepository } from '../../src/contacts/contacts.repository';
import { CustomersService } from '../../src/contacts/customers.service';
import { foldText } from '../../src/common/folded-text';
import { CONVERSATION_STATUSES } from '../../src/conversations/conversation.entity';
import { ContactConversationsRepository } from '../../src/conversations/contact-conversations.repository';
import { ConversationListsRepository } from '../../src/conversations/conversation-lists.repository';
import { ActivityFilter, ListFilter } from '../../src/conversations/list-statement';
import { ConversationsRepository } from '../../src/conversations/conversations.repository';
import {
  AgentReleasesRepository,
  BEFORE_ALL_AGENTS,
} from '../../src/conversations/agent-releases.repository';
import { BEFORE_ALL_SNOOZES, SnoozesRepository } from '../../src/conversations/snoozes.repository';
import { DraftsRepository } from '../../src/inbox/drafts/drafts.repository';
import { MAX_DRAFTS } from '../../src/inbox/drafts/draft.dto';
import { MAX_COUNTED } from '../../src/database/bounded-count';
import { Database } from '../../src/database/database';
import { OneServer } from '../../src/database/placement/one-server';
import { VisitorMessagesRepository } from '../../src/channels/widget/visitor-messages.repository';
import { AlertNewsRepository } from '../../src/alerts/alert-news.repository';
import { AlertMailboxesRepository } from '../../src/notices/alerts/alert-mailboxes.repository';
import { AgentNoticesRepository } from '../../src/notices/agents/agent-notices.repository';
import { NoticeChoicesRepository } from '../../src/notices/agents/notice-choices.repository';
import { OwedNoticesRepository } from '../../src/notices/agents/owed-notices.repository';
import { AnswerNoticesRepository } from '../../src/notices/answers/answer-notices.repository';
import { QuietAnswersRepository } from '../../src/notices/answers/quiet-answers.repository';
import { BEFORE_ALL_DUE } from '../../src/queue/polling/due-position';
import { InvitationsRepository } from '../../src/logins/invitations/invitations.repository';
import { LoginSessionsRepository } from '../../src/logins/sessions/login-sessions.repository';
import { MembershipsRepository } from '../../src/logins/people/memberships.repository';
import { PasswordResetsRepository } from '../../src/logins/passwords/password-resets.repository';
import { PendingLoginsRepository } from '../../src/logins/sessions/pending-logins.repository';
import { PushAddressesRepository } from '../../src/notices/push/push-addresses.repository';
import { PeopleRepository } from '../../src/logins/people/people.repository';
import { MessageIndexRepository } from '../../src/message-search/message-index.repository';
import { LostMessagesRepository } from '../../src/messages/lost-messages.repository';
import { MessagesRepository } from '../../src/messages/messages.repository';
import { MessagesService } from '../../src/messages/messages.service';
import { UnlockedSendsRepository } from '../../src/messages/unlocked-sends.repository';
import { Note, NotesRepository } from '../../src/inbox/notes/notes.repository';
import { ReadMarksRepository } from '../../src/inbox/read-marks/read-marks.repository';
import { SavedRepliesRepository } from '../../src/inbox/saved-replies/saved-replies.repository';
import { MessageEraser } from '../../src/messages/message-eraser';
import { ErasedIds } from '../../src/secrets/erased-ids';
import { EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { EventsRepository } from '../../src/outbox/events.repository';
import {
  BEFORE_ALL_ENDPOINTS,
  BEFORE_ALL_UNOWED,
  DueDeliveriesRepository,
} from '../../src/webhooks/deliveries/due-deliveries.repository';
import { DeliveryRoundsRepository } from '../../src/webhooks/deliveries/delivery-rounds.repository';
import { PendingDeliveriesRepository } from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { RunningClaims } from '../../src/queue/claims/running-claims';
import { QueueFloors } from '../../src/queue/floors/queue-floors';
import { WakeUps } from '../../src/queue/wake-ups';
import { AttemptRecord } from '../../src/webhooks/deliveries/delivery';
import { DeliveryContents } from '../../src/webhooks/browsing/delivery-contents';
import { DeliverySearch } from '../../src/webhooks/browsing/delivery-search';
import { DeliverySearchRepository } from '../../src/webhooks/browsing/delivery-search.repository';
import { AttemptRollupsRepository, ROLLUP_MS } from '../../src/webhooks/rollups/attempt-rollups.repository';
import { WebhookDayRepository } from '../../src/webhooks/rollups/webhook-day.repository';
import { SubscribersRepository } from '../../src/webhooks/endpoints/subscribers.repository';
import { DatabaseClock } from '../../src/database/database-clock';
import { Transaction } from '../../src/database/transaction';
import { AgentsRepository } from '../../src/workspaces/agents.repository';
import { MessagingHost } from '../support/messaging-host';
import {
  PlanNode,
  PlanReader,
  expectPage,
  expectInOrder,
  expectOnlyIndexed,
  nodesOf,
  indexesOf,
  indexesRead,
  rowsRead,
} from './plans';
import {
  BIG,
  TINY,
  ROWS,
  PAGE,
  NEWEST,
  JIT_ABOVE_COST,
  COMPARED,
  CONVERSATION,
  VISITOR_CONVERSATION,
  ENDPOINTS,
  STEP_ROWS,
  ROLLUPS,
  ROLLUPS_FROM,
  uuid,
  endpoint,
  sequential,
  PEOPLE,
  UNREAD,
  AGENTS_TEXTS,
  LOST,
  NOTICES,
  WAITING,
  WRITER,
  fill,
  run,
} from './rows';

/**
 * Tests of the plans that PostgreSQL makes on large tables for the statements that the repositories really
 * send.
 */
describe('query plans', () => {
  let host: MessagingHost;
  let reader: PlanReader;
  let server: OneServer;
  const plansOf: PlanReader['read'] = (call, prefix) => reader.read(call, prefix);

  beforeAll(async () => {
    host = await MessagingHost.create();
    // The clock's own statements, every ten seconds, would be counted as those of a call.
    await host.app.get(DatabaseClock, { strict: false }).beforeApplicationShutdown();
    server = new OneServer(host.get(Database));
    reader = await PlanReader.start(host.stores.databaseUrl);
    await fill(host.stores.databaseAdminUrl);
    await run(host.stores.databaseAdminUrl, AGENTS_TEXTS);
    await reader.readParts();
    // A million rows are written here, which takes 20 s on two free cores.
  }, 300_000);
  afterAll(async () => {
    await reader.stop();
  });

  describe.each([
    ['first page', undefined],
    ['page in the middle', sequential(ROWS / 2)],
    ['page far down', sequential(3_000)],
  ])('%s', (_, cursor) => {
    it.each([BIG, TINY])('of the conversations of tenant %s, with every filter', async (tenantId) => {
      const repository = host.app.get(ConversationsRepository);
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

    it.each([BIG, TINY])('of the conversations of tenant %s by latest activity', async (tenantId) => {
      const repository = host.app.get(ConversationListsRepository);
      for (const status of CONVERSATION_STATUSES) {
        const views = [{ status }, { status, agentId: null }, { status, agentId: uuid(9) }];
        for (const [view, filter] of views.entries()) {
          const index = view === 0 ? 'conversations_activity_idx' : 'conversations_assigned_activity_idx';
          const list = (channel?: Channel) =>
            repository.listActive(tenantId, { ...filter, cursor, ...(channel && { channel }) }, PAGE);
          for (const plan of await plansOf(() => list())) {
            expectInOrder(plan);
            expect(indexesOf(plan)).toContain(index);
            // A row of each of three tables, and one more with which PostgreSQL looks ahead.
            expect(rowsRead(plan)).toBeLessThanOrEqual(3 * PAGE + 1);
          }
          const ends = () => repository.findScannedEnd(tenantId, { ...filter, cursor });
          for (const plan of [...(await plansOf(() => list('TELEGRAM'))), ...(await plansOf(ends))])
            expect(rowsRead(plan)).toBeLessThanOrEqual(1_000 + 2 * PAGE);
          const ids = [1, ROWS / 2, ROWS].map(sequential);
          for (const plan of await plansOf(() => repository.listActive(tenantId, { ...filter, ids }, PAGE)))
            expect(rowsRead(plan)).toBeLessThanOrEqual(3 * ids.length);
        }
      }
    });

    it('of the messages of one conversation', async () => {
      const repository = host.app.get(MessagesRepository);
      expectPage(await plansOf(() => repository.list(BIG, CONVERSATION, cursor, PAGE)), 'messages_pkey');
    });

    it("of a visitor's messages, with the agents' names and the client's ids", async () => {
      const repository = new VisitorMessagesRepository(host.get(Database), host.get(ErasedIds));
      const list = () =>
        repository.list(BIG, VISITOR_CONVERSATION, { cursor, limit: PAGE - 1 }, { withUnsent: true });
      for (const plan of await plansOf(list)) {
        expectInOrder(plan);
        expect(indexesOf(plan).sort()).toEqual([
          'agents_pkey',
          'messages_pkey',
          'provider_messages_message_idx',
        ]);
        // There is a row of each kind; PostgreSQL rounds the half of the rows that have a name up.
        expect(rowsRead(plan)).toBeLessThanOrEqual(3 * PAGE);
      }
    });

    it.each([BIG, TINY])('of the contacts of tenant %s', async (tenantId) => {
      const repository = host.app.get(ContactsRepository);
      expectPage(await plansOf(() => repository.list(tenantId, { cursor }, PAGE)), 'contacts_pkey');
    });

    it.each([BIG, TINY])('of the agents of tenant %s', async (tenantId) => {
      const repository = host.app.get(AgentsRepository);
      for (const plan of await plansOf(() => repository.listBelow(tenantId, cursor, PAGE))) {
        expectInOrder(plan);
        expect(indexesOf(plan)).toEqual(['agents_pkey']);
      }
    });

    it('of an endpoint’s finished deliveries', async () => {
      const repository = host.app.get(DeliverySearchRepository);
      const plansFor = (filter: object) =>
        plansOf(
          () =>
            host
              .get(Database)
              .queueTransaction((tx) =>
                repository.searchHistory(tx, BIG, { endpointId: endpoint(3), cursor, ...filter }, PAGE),
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
        // A page reads the row itself, its latest round, and whether it is pending again.
        expect(rowsRead(plan!)).toBeLessThanOrEqual(PAGE * 4);
      }
    });

    it.each([BIG, TINY])(
      'of an export of the audit log of tenant %s, with every filter',
      async (tenantId) => {
        const repository = host.app.get(AuditEntriesRepository);
        const filters: [object, string][] = [
          [{}, 'audit_entries_pkey'],
          [{ since: new Date(0), until: new Date() }, 'audit_entries_pkey'],
          [{ action: 'a7' }, 'audit_entries_action_idx'],
          [{ actor: 'operator:o7' }, 'audit_entries_actor_idx'],
          [{ entity: 'e7' }, 'audit_entries_entity_idx'],
          [{ entityId: '7' }, 'audit_entries_entity_id_idx'],
        ];
        for (const [filter, index] of filters)
          expectPage(
            await plansOf(() => repository.listNext(tenantId, filter, cursor ?? uuid(0), PAGE)),
            index,
          );
      },
    );

    it('of what a page of deliveries is about', async () => {
      const contents = host.get(DeliveryContents);
      const conversations = host.app.get(ContactConversationsRepository);
      const ids = Array.from({ length: PAGE }, (_, n) => sequential(10 * (n + 1)));
      const [events] = await plansOf(() => contents.findSubjects(BIG, ids));
      expectOnlyIndexed(events!, ['events']);
      expect(rowsRead(events!)).toBeLessThanOrEqual(PAGE);
      const [contacts] = await plansOf(() => conversations.findContacts(BIG, ids));
      expectOnlyIndexed(contacts!, ['conversations', 'contacts']);
      expect(rowsRead(contacts!)).toBeLessThanOrEqual(2 * PAGE);
    });

    it.each([BIG, TINY])('of what the audit log of tenant %s can be filtered by', async (tenantId) => {
      const repository = host.app.get(AuditEntriesRepository);
      const indexes = {
        action: 'audit_entries_action_idx',
        entity: 'audit_entries_entity_idx',
        actor: 'audit_entries_actor_idx',
      };
      for (const [column, index] of Object.entries(indexes)) {
        const list = () => repository.listValues(tenantId, column as keyof typeof indexes, 200);
        const [plan] = await plansOf(list, /^WITH RECURSIVE/);
        expect(indexesOf(plan!)).toContain(index);
        expectOnlyIndexed(plan!, ['audit_entries']);
        // There are 20 actions, 10 types of things and up to 41 actors, among 18,000 entries.
        expect(rowsRead(plan!)).toBeLessThanOrEqual(200);
      }
    });

    it('of a workspace’s pending deliveries, whatever fits', async () => {
      const repository = host.app.get(DeliverySearchRepository);
      for (const filter of [{}, { error: 'timeout' as const }, { statuses: ['CANCELLED' as const] }]) {
        const [plan] = await plansOf(
          () =>
            host
              .get(Database)
              .queueTransaction((tx) => repository.searchPending(tx, BIG, { ...filter, cursor }, PAGE)),
          /^WITH step/,
        );
        expectOnlyIndexed(plan!, ['pending_deliveries']);
        expect(rowsRead(plan!)).toBeLessThanOrEqual(PAGE * 2 + ENDPOINTS);
      }
    });

    it('of the deliveries of a conversation', async () => {
      const search = host.get(DeliverySearch);
      for (const endpointId of [endpoint(3), undefined]) {
        const filter = { conversationId: CONVERSATION, endpointId, cursor };
        const plans = await plansOf(
          () => host.get(Database).queueTransaction((tx) => search.searchStep(tx, BIG, filter, PAGE)),
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
      const repository = host.app.get(AuditEntriesRepository);
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

  describe.each(['id', 'activity'] as const)("of the API's conversations by %s", (order) => {
    const plansFor = (tenantId: string, filter: ListFilter, cursor?: string) =>
      plansOf(() =>
        host.app.get(ConversationListsRepository).find(tenantId, filter, { order, cursor, count: PAGE }),
      );
    // A list is looked through up to here, once for each status, and once more for where it ends.
    const MOST = 2 * 3 * 1_001 + 3 * PAGE;

    it.each([
      ['no other filter', {}],
      ['a status', { status: 'OPEN' }],
      ['a channel', { channel: 'TELEGRAM' }],
      ['an agent', { agentId: uuid(9) }],
      ['nobody', { agentId: null }],
      ['an agent and a status', { agentId: uuid(9), status: 'CLOSED' }],
      ['a contact', { contactId: BIG }],
      ['a time long ago', { updatedSince: new Date(0) }],
      ['a time that lies between messages and changes', { updatedSince: new Date(Date.now() + 900_000) }],
      ['a time to come', { updatedSince: new Date(Date.now() + 3_600_000) }],
    ] satisfies [string, ListFilter][])('with %s', async (_, filter: ListFilter) => {
      for (const tenantId of [BIG, TINY])
        for (const cursor of [undefined, sequential(ROWS / 2)])
          for (const plan of await plansFor(tenantId, filter, cursor)) {
            expectOnlyIndexed(plan, ['conversations', 'contacts']);
            expect(rowsRead(plan)).toBeLessThanOrEqual(MOST);
          }
    });

    it('reads a page, and few conversations that were changed lately', async () => {
      const filter = { updatedSince: new Date(Date.now() + 3_600_000) };
      for (const plan of await plansFor(BIG, filter)) expect(rowsRead(plan)).toBeLessThanOrEqual(PAGE);
      if (order === 'activity')
        for (const plan of await plansFor(BIG, {})) expect(rowsRead(plan)).toBeLessThanOrEqual(5 * PAGE);
    });
  });

  it("of a contact's latest identity on a channel", async () => {
    const contact = { tenantId: BIG, contactId: sequential(5) };
    const find = () =>
      host
        .get(Database)
        .transaction((tx) => host.app.get(ContactsRepository).findLatestIdentity(tx, contact, 'WHATSAPP'));
    for (const plan of await plansOf(find, /^SELECT external_id/)) {
      expectOnlyIndexed(plan, ['contact_identities']);
      expect(rowsRead(plan)).toBeLessThanOrEqual(1);
    }
  });

  it('of the conversations of one contact, by latest activity', async () => {
    const repository = host.app.get(ConversationListsRepository);
    // All conversations of a workspace are of one contact here, so both indexes lead to its newest ones.
    for (const tenantId of [BIG, TINY])
      for (const cursor of [undefined, sequential(ROWS / 2)]) {
        const contact = { tenantId, contactId: tenantId };
        for (const plan of await plansOf(() => repository.listActiveOfContact(contact, cursor, PAGE))) {
          expect(['conversations_contact_idx', 'conversations_pkey', 'messages_pkey']).toEqual(
            expect.arrayContaining(indexesOf(plan)),
          );
          expectOnlyIndexed(plan, ['conversations', 'messages']);
          // One more is read of each conversation: its newest message.
          expect(rowsRead(plan)).toBeLessThanOrEqual(1_000 + PAGE);
        }
      }
  });

  it('of the part of a conversation around a found message, and of what is newer', async () => {
    const messages = host.get(MessagesService);
    for (const id of [sequential(10), sequential(ROWS / 2), sequential(ROWS)])
      for (const bound of [{ around: id }, { after: id }]) {
        const list = () => messages.listPart(BIG, CONVERSATION, { ...bound, limit: PAGE - 1 }, SYSTEM);
        expectPage(await plansOf(list), 'messages_pkey');
      }
  });

  it('of a change of a contact, by a person and by what a channel says', async () => {
    const contacts = host.app.get(ContactsRepository);
    const id = sequential(5);
    const inTransaction = (work: (tx: Transaction) => Promise<unknown>) =>
      plansOf(() => host.get(Database).transaction(work), /\b(?:FROM|UPDATE) contacts\b/);
    const edit = async (tx: Transaction) => contacts.update(tx, BIG, (await contacts.lock(tx, BIG, id))!);
    const profile = { signed: { email: 'ana@example.com' }, claimed: { name: 'Ana' } };
    const plans = [
      ...(await inTransaction(edit)),
      ...(await inTransaction((tx) => host.get(CustomersService).updateProfile(tx, BIG, id, profile))),
    ];
    for (const plan of plans) {
      expect(new Set(indexesOf(plan))).toEqual(new Set(['contacts_pkey']));
      expect(rowsRead(plan)).toBeLessThanOrEqual(2);
    }
    expect(plans.length).toBeGreaterThanOrEqual(3);
  });

  it('of the check of a reply', async () => {
    const repository = new ReplyChecksRepository(host.get(Database));
    // There is no connection here, and PostgreSQL reads the empty table itself.
    const tables = ['conversations', 'contacts', 'contact_identities', 'messages'];
    for (const plan of await plansOf(() => repository.findRoute(BIG, CONVERSATION))) {
      expectOnlyIndexed(plan, tables);
      expect(rowsRead(plan)).toBeLessThanOrEqual(10);
    }
    for (const channel of CHANNELS) {
      const route = { channel, contactId: BIG, recipientId: '1', fault: null };
      for (const plan of await plansOf(() => repository.listRecent(BIG, route, LOWEST_ID))) {
        expectOnlyIndexed(plan, tables);
        expect(rowsRead(plan)).toBeLessThanOrEqual(20 + 20 * 200);
      }
    }
  });

  it('of a message that is sent by one statement', async () => {
    const sends = host.app.get(UnlockedSendsRepository, { strict: false });
    const message = { tenantId: BIG, conversationId: CONVERSATION, id: newId(), createdAt: new Date() };
    const texts = { senderType: 'AGENT', senderAgentId: newId(), body: 'Hello', deliveryStatus: 'QUEUED' };
    const others = { preview: '', data: '{}', channels: CHANNELS, response: '{}' };
    const make = () => ({ message: { ...message, ...texts }, ...others }) as never;
    const key = { key: 'key', fingerprint: () => Buffer.alloc(32) };
    for (const plan of await plansOf(() => sends.insert(uuid(9), null, make))) {
      expectOnlyIndexed(plan, ['conversations', 'agents']);
      expect(rowsRead(plan)).toBe(2);
    }
    // The key is there when the plans are read, so that they find it and go no further.
    for (const plan of await plansOf(() => sends.insert(uuid(9), key, make))) {
      expectOnlyIndexed(plan, ['conversations', 'agents', 'idempotency_keys']);
      expect(rowsRead(plan)).toBeLessThanOrEqual(3);
    }
  });

  describe('contact search', () => {
    const search = (tenantId: string, q: string, cursor?: string) =>
      host.app.get(ContactsRepository).list(tenantId, { q, cursor }, PAGE);

    /**
     * Expects that every statement reads few rows, by the plan that a connection keeps and by the plan for
     * its values.
     */
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

    it('ends between two steps when the client has hung up', async () => {
      let asked = 0;
      const caller = {
        get closed() {
          return ++asked > 3;
        },
        once: () => undefined,
        off: () => undefined,
      };
      const list = () => host.app.get(ContactsRepository).list(BIG, { q: 'qx' }, PAGE, caller);
      expect(await plansOf(() => expect(list()).rejects.toMatchObject({ code: 'UNAVAILABLE' }))).toHaveLength(
        6,
      );
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
        const expected = await host.query<{ id: string }>(
          `SELECT id FROM contacts
             WHERE tenant_id = $1 AND (search_text LIKE '%' || $2 || '%' OR regexp_replace(phone, '\\D', '', 'g')
               LIKE '%' || $3 || '%') ORDER BY id DESC LIMIT ${COMPARED}`,
          [tenantId, foldText(q), digits],
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
      for (const plan of await plansOf(() => host.app.get(ContactsRepository).listIdentities(BIG, ids))) {
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

    beforeAll(() => run(host.stores.databaseAdminUrl, PEOPLE), 60_000);

    /** Expects that every statement reads by keys alone, and no more rows than the person has of any kind. */
    async function expectOwnRows(call: () => Promise<unknown>, most: number): Promise<void> {
      for (const plan of await plansOf(call)) {
        expect(nodesOf(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
        expect(rowsRead(plan)).toBeLessThanOrEqual(most);
        expect(plan['Total Cost']).toBeLessThan(JIT_ABOVE_COST);
      }
    }

    it('is read on every request with the memberships of one person', async () => {
      const sessions = host.get(LoginSessionsRepository);
      await expectOwnRows(() => sessions.authenticate(hash), 10);
      await expectOwnRows(() => sessions.findActive([hash]), 1);
      await expectOwnRows(() => sessions.markUsed(PERSON), 1);
      expect(await sessions.authenticate(hash)).toMatchObject({ memberships: [{ workspace: { id: BIG } }] });
    });

    it('is begun, listed and told by what the person has', async () => {
      await expectOwnRows(() => host.get(PeopleRepository).findForLogin('p5@example.com', hash), 3);
      await expectOwnRows(() => host.get(LoginSessionsRepository).list(PERSON), 5);
      await expectOwnRows(() => host.get(MembershipsRepository).listActive(PERSON), 5);
      await expectOwnRows(() => host.get(PushAddressesRepository).listForExport(PERSON), 1);
      await expectOwnRows(() => host.get(PushAddressesRepository).has(PERSON), 1);
      await expectOwnRows(() => host.get(PendingLoginsRepository).countAttempt(hash), 1);
      await expectOwnRows(
        () => host.get(Database).transaction((tx) => host.get(PasswordResetsRepository).find(tx, hash)),
        1,
      );
      // The invitation, its workspace, and its agent twice: with who made it, it is asked for its access.
      await expectOwnRows(() => host.get(InvitationsRepository).find({ tenantId: BIG, hash }), 4);
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
      host.get(Database).queueTransaction(work) as Promise<T>;

    it.each([
      ['one endpoint', 1],
      ['many endpoints', ENDPOINTS],
    ])('claims for %s from its own part of the index, and finds all else by its key', async (_, count) => {
      const store = host.app.get(PendingDeliveriesRepository);
      const plans = await plansOf(
        () => inQueue((tx) => store.claim(tx, requestsFor(count), newId())),
        /^WITH/,
      );

      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['pending_deliveries', 'events']);
        expect([...new Set(indexesOf(plan))].sort()).toEqual([
          'events_pkey',
          'pending_deliveries_endpoint_idx',
          'pending_deliveries_pkey',
        ]);
        expect(rowsRead(plan)).toBeLessThan(100 + count * 20);
      }
    });

    it('sees whether a delivery of a recovery is pending from the recovery’s own part of the index', async () => {
      const store = host.app.get(DeliveryRoundsRepository);
      const [plan] = await plansOf(
        () => inQueue((tx) => store.hasRecovered(tx, BIG, newId())),
        /recovery_id/,
      );
      expect(indexesOf(plan!)).toEqual(['pending_deliveries_recovery_idx']);
      expectOnlyIndexed(plan!, ['pending_deliveries']);
      expect(rowsRead(plan!)).toBeLessThan(10);
    });

    it('takes back the deliveries of an automatic recovery by the recovery’s own part of the index', async () => {
      const store = host.app.get(DeliveryRoundsRepository);
      const [taken] = await plansOf(
        () => inQueue((tx) => store.takeBack(tx, BIG, newId(), true, 500)),
        /^WITH taken/,
      );
      const [listed] = await plansOf(
        () => inQueue((tx) => store.listConversations(tx, BIG, newId(), 100)),
        /conversationId/,
      );
      expect(indexesOf(taken!)).toContain('pending_deliveries_recovery_idx');
      expect(indexesOf(listed!)).toContain('pending_deliveries_recovery_idx');
      expectOnlyIndexed(taken!, ['pending_deliveries']);
      expectOnlyIndexed(listed!, ['pending_deliveries', 'events']);
      for (const plan of [taken!, listed!]) expect(rowsRead(plan)).toBeLessThan(10);
    });

    it('finds all endpoints with something due in one step, however much each of them is owed', async () => {
      const { targets } = await host.app.get(DueDeliveriesRepository).findDue(BEFORE_ALL_ENDPOINTS, server);
      expect(targets.map(({ id }) => id)).toEqual(
        Array.from({ length: ENDPOINTS }, (_, n) => endpoint(n + 1)),
      );
    });

    it('polls in steps, however much is pending', async () => {
      const store = host.app.get(DueDeliveriesRepository);
      const plans = [
        ...(await plansOf(() => store.findDue(BEFORE_ALL_ENDPOINTS, server))),
        ...(await plansOf(() => store.findScheduled(new Date(0), server))),
      ];
      expect(plans).toHaveLength(6);
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['pending_deliveries', 'webhook_endpoints']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(STEP_ROWS);
      }
    });

    it('finds snoozes that have ended in steps, and locks one of them', async () => {
      const snoozes = new SnoozesRepository();
      for (const plan of await plansOf(() => snoozes.findEnded(BEFORE_ALL_SNOOZES, server))) {
        expectInOrder(plan);
        expect(indexesOf(plan)).toEqual(['conversations_snooze_schedule_idx']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(STEP_ROWS);
      }
      const { items } = await snoozes.findEnded(BEFORE_ALL_SNOOZES, server);
      const lock = () => host.get(Database).queueTransaction((tx) => snoozes.lockEnded(tx, items[0]!));
      const plans = await plansOf(lock, /^\s*SELECT tenant_id/);
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect(indexesOf(plan)).toEqual([expect.stringMatching(/^conversations_(pkey|id_idx)$/)]);
        expect(rowsRead(plan)).toBeLessThanOrEqual(1);
      }
    });

    it('finds answers that visitors have not read by the activity of their conversations', async () => {
      const answers = new QuietAnswersRepository(host.get(Database));
      const widgets = [BIG, TINY].map((tenantId) => ({ tenantId, connectionId: uuid(9) }));
      // The newest 280 conversations of the big workspace have ids of messages in this stretch of time.
      const from = 'ffffffff-0000-7000-8000-000000004bf0';
      const plans = await plansOf(async () => {
        for await (const found of answers.find(widgets, from, HIGHEST_ID)) expect(found).toEqual([]);
      });
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['conversations', 'messages', 'contacts', 'answer_addresses']);
        expect(indexesOf(plan)).toContain('conversations_activity_idx');
        expect(rowsRead(plan)).toBeLessThanOrEqual(STEP_ROWS);
      }
      for (const plan of await plansOf(() => answers.listWidgets(LOWEST_ID, server))) {
        expectOnlyIndexed(plan, ['channel_connections']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(CHANNELS.length);
      }
      const notices = new AnswerNoticesRepository();
      for (const plan of await plansOf(() => notices.findDue(BEFORE_ALL_DUE, server)))
        expect(indexesOf(plan)).toEqual(['answer_notices_due_idx']);
    });

    it('finds the alerts that are owed, and the mails about them that are due', async () => {
      const news = new AlertNewsRepository();
      for (const plan of await plansOf(() => news.findOwed(BEFORE_ALL_DUE, server)))
        expect(indexesOf(plan)).toEqual(['alerts_owed_idx']);
      const mailboxes = new AlertMailboxesRepository(host.get(Database));
      for (const plan of await plansOf(() => mailboxes.findDue(BEFORE_ALL_DUE, server)))
        expect(indexesOf(plan)).toEqual(['alert_mailboxes_due_idx']);
      const managers = () => host.get(Database).queueTransaction((tx) => mailboxes.listManagers(tx, BIG));
      for (const plan of await plansOf(managers, /FROM agents a JOIN memberships/))
        expectOnlyIndexed(plan, ['agents', 'memberships']);
    });

    it('finds agents who have been deactivated, and locks one of their conversations', async () => {
      const releases = new AgentReleasesRepository();
      for (const plan of await plansOf(() => releases.findReleasing(BEFORE_ALL_AGENTS, server))) {
        expectInOrder(plan);
        expect(indexesOf(plan)).toEqual(['agents_releasing_idx']);
      }
      for (const tenantId of [BIG, TINY]) {
        const agent = { tenantId, agentId: uuid(9) };
        const lock = () => host.get(Database).orderedTransaction((tx) => releases.lockNext(tx, agent));
        const ask = () => host.get(Database).orderedTransaction((tx) => releases.hasAny(tx, agent));
        const plans = [
          ...(await plansOf(lock, /^\s*SELECT tenant_id/)),
          ...(await plansOf(ask, /^SELECT FROM/)),
        ];
        for (const plan of plans) {
          expectOnlyIndexed(plan, ['conversations']);
          if (tenantId === TINY) continue; // All indexes are good for its five rows.
          expect(indexesOf(plan)).toEqual(['conversations_assigned_activity_idx']);
          expect(rowsRead(plan)).toBeLessThanOrEqual(1);
        }
      }
    });

    it('records outcomes by key', async () => {
      const store = host.app.get(PendingDeliveriesRepository);
      const lease = { id: newId(), on: 'row' };
      const [row] = await host
        .get(Database)
        .queueTransaction((tx) => store.claim(tx, requestsFor(1, 1), lease.id));
      const delivery = { ...row!, endpoint: { id: endpoint(1), tenantId: BIG }, lease };
      const record = { delivery, outcome: null, status: 'PENDING', retryDelayMs: 60_000 };
      const plans = await plansOf(
        () => inQueue((tx) => store.settle(tx, [record as unknown as AttemptRecord])),
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
      const store = host.app.get(DueDeliveriesRepository);
      const target = { tenantId: BIG, id: endpoint(5) };
      const plans = await plansOf(
        () => inQueue((tx) => store.deleteUnowed(tx, target, 0, BEFORE_ALL_UNOWED, 500)),
        /^WITH/,
      );
      for (const plan of plans) {
        expect(indexesOf(plan)).toEqual(expect.arrayContaining(['pending_deliveries_endpoint_idx']));
        expectOnlyIndexed(plan, ['pending_deliveries']);
        expect(rowsRead(plan)).toBeLessThan(10);
      }
    });

    it('finds the newest messages of workspaces, which may not be indexed, by index', async () => {
      const index = host.get(MessageIndexRepository);
      for (const plan of await plansOf(() => index.findWorkspaces(LOWEST_ID, server))) {
        expectOnlyIndexed(plan, ['conversations']);
        // Of each of four workspaces its row, and the latest conversation of each status.
        expect(rowsRead(plan)).toBeLessThanOrEqual(4 * 4);
      }
    });

    it('lists the latest events of workspaces by key', async () => {
      const list = () => host.app.get(EventsRepository).listLatest([BIG, TINY], LOWEST_ID, PAGE);
      for (const plan of await plansOf(list)) {
        expect(new Set(indexesOf(plan))).toEqual(new Set(['events_pkey']));
        expect(rowsRead(plan)).toBeLessThanOrEqual(2 * PAGE + 2);
      }
    });

    it('takes events from the workspace’s own part of the queue, and fails unconnected replies by their keys', async () => {
      const queue = host.app.get(EventQueueRepository);
      const limits = new Map([
        [BIG, 20],
        [TINY, 20],
      ]);
      const plans = await plansOf(
        () => inQueue((tx) => queue.claim(tx, limits, newId(), { handleSql: failUnconnectedSql })),
        /^WITH/,
      );
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect(indexesOf(plan)).toEqual(expect.arrayContaining(['event_queue_pkey', 'events_pkey']));
        expectOnlyIndexed(plan, [
          'event_queue',
          'events',
          'messages',
          'conversations',
          'channel_connections',
        ]);
        expect(rowsRead(plan)).toBeLessThan(200);
      }
    });

    it.each([
      ['a conversation', CONVERSATION, 'events_conversation_idx'],
      ['a contact itself', LOWEST_ID, 'audit_entries_entity_id_idx'],
    ])('lists what a step of an erasure takes of %s by index', async (_, conversationId, index) => {
      const range = { tenantId: BIG, conversationId, after: LOWEST_ID, before: HIGHEST_ID };
      // A contact of the entries' rows. Answers and texts are erased by their keys.
      const plans = await plansOf(
        () => inQueue((tx) => host.get(MessageEraser).eraseStep(tx, range, PAGE, '7')),
        /^SELECT id FROM|^SELECT d.id FROM unnest/,
      );
      expect(plans.flatMap(indexesOf)).toContain(index);
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['messages', 'events', 'audit_entries', 'webhook_deliveries']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(PAGE * ENDPOINTS * 2);
      }
    });

    it('erases the newest events of a contact by index', async () => {
      const contact = { tenantId: BIG, contactId: '7' };
      const erase = (tx: Transaction) =>
        host.app.get(EventsRepository).eraseNewestOfContact(tx, contact, PAGE);
      const plans = await plansOf(() => inQueue(erase));
      expect(plans.flatMap(indexesOf)).toContain('events_contact_idx');
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['events']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(PAGE);
      }
    });

    it('looks for expired messages, events and notes conversation by conversation', async () => {
      // Nothing is above this id, so that all three are looked at.
      const range = { from: sequential(10 * ROWS), until: HIGHEST_ID };
      const find = (tx: Transaction) =>
        host.get(MessagesRepository).findConversations(tx, BIG, range, LOWEST_ID, PAGE);
      const [plan] = await plansOf(() => inQueue(find), /^SELECT c.id/);
      expect(indexesOf(plan!)).toEqual(
        expect.arrayContaining(['messages_pkey', 'conversations_pkey', 'notes_conversation_idx']),
      );
      expectOnlyIndexed(plan!, ['messages', 'events', 'notes', 'conversations']);
      expect(rowsRead(plan!)).toBeLessThanOrEqual(3 * PAGE);
    });

    it('adds to the rollups of attempts by key, and reads an endpoint’s own', async () => {
      const rollups = host.app.get(AttemptRollupsRepository);
      const startsAt = new Date(ROLLUPS_FROM.getTime() + 1_000 * ROLLUP_MS);
      const rows = [3, 4].map((n) => ({
        tenantId: BIG,
        endpointId: endpoint(n),
        startsAt,
        outcomes: [1, 2],
        durations: [3],
        late: 1,
        exhausted: 0,
      }));
      for (const plan of await plansOf(() => rollups.addRollups(rows), /^INSERT/)) {
        expectOnlyIndexed(plan, ['attempt_rollups']);
        expect(rowsRead(plan)).toBeLessThan(50);
      }
      for (const plan of await plansOf(() => rollups.list(BIG, endpoint(3), startsAt))) {
        expect(indexesOf(plan)).toEqual(['attempt_rollups_pkey']);
        expect(rowsRead(plan)).toBe(ROLLUPS - 1_000);
      }
      const last = new Date(ROLLUPS_FROM.getTime() + (ROLLUPS - 288) * ROLLUP_MS);
      for (const plan of await plansOf(() => rollups.sumDeliveries(BIG, [endpoint(3), endpoint(4)], last)))
        expect([indexesOf(plan), rowsRead(plan)]).toEqual([['attempt_rollups_pkey'], 2 * 288]);
    });

    it('counts what waits, what is open and what failed in a whole workspace up to a thousand, by index', async () => {
      const tables = [
        'conversations',
        'messages',
        'webhook_endpoints',
        'pending_deliveries',
        'webhook_deliveries',
      ];
      const days = host.get(WebhookDayRepository);
      const counts = [
        () => host.app.get(ConversationListsRepository).count(BIG, { status: 'OPEN' }),
        () => host.app.get(ConversationListsRepository).count(BIG, { status: 'OPEN', agentId: null }),
        () => host.app.get(MessagesRepository).countWaiting(BIG),
        () => days.countDeliveries(BIG, new Date(0)),
      ];
      for (const count of counts) {
        for (const plan of await plansOf(count, /^\s*SELECT count/)) {
          expectOnlyIndexed(plan, tables);
          // Of each delivery that was given up, its latest round and whether it is pending again.
          expect(rowsRead(plan)).toBeLessThanOrEqual(3 * (MAX_COUNTED + 1) + ENDPOINTS);
        }
      }
      const countGivenUp = () => days.countGivenUp(BIG, [endpoint(3), endpoint(4)], new Date(0));
      for (const plan of await plansOf(countGivenUp, /^\s*SELECT e/)) {
        // Partitions without a row may be scanned as a whole.
        expect(indexesOf(plan)).toEqual([
          'webhook_deliveries_undelivered_idx',
          'webhook_deliveries_pkey',
          'pending_deliveries_pkey',
        ]);
        expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 3 * 100);
      }
      const last = new Date(ROLLUPS_FROM.getTime() + (ROLLUPS - 288) * ROLLUP_MS);
      for (const plan of await plansOf(() => days.sumDeliveries(BIG, last, 6 * ROLLUP_MS))) {
        expectOnlyIndexed(plan, ['attempt_rollups']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(ENDPOINTS * 289);
      }
    });

    it('locks the endpoints of workspaces by index', async () => {
      const endpoints = host.app.get(SubscribersRepository);
      const plans = await plansOf(
        () => inQueue((tx) => endpoints.lockWorkspaceSubscribers(tx, [BIG, TINY])),
        /^WITH/,
      );
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['webhook_endpoints']);
        expect(rowsRead(plan)).toBeLessThan(ENDPOINTS * 5);
      }
    });

    it('claims a connection’s messages from the due index, and asks each whether it is the next by index', async () => {
      const statuses = host.get(MessageStatusRepository);
      const store = new OutboundMessagesRepository(host.get(Database), statuses, new QueueFloors());
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

    it('looks for running claims in the workspace’s own parts of the queues', async () => {
      const claims = new RunningClaims(host.get(Database));
      const calls = [
        () => claims.waitForEndpoints(BIG, [endpoint(5)]),
        () => claims.waitForConnection(BIG, uuid(501)),
        () => claims.waitForWorkspace(BIG),
      ];
      for (const call of calls) {
        const [plan] = await plansOf(call, /^WITH read/);
        expectOnlyIndexed(plan!, ['event_queue', 'pending_deliveries', 'outbound_messages']);
        expect(rowsRead(plan!)).toBeLessThan(2_000);
      }
    });

    it('finds the messages of events by their keys, however many are queued', async () => {
      const statuses = host.get(MessageStatusRepository);
      const messages = new OutboundMessagesRepository(host.get(Database), statuses, new QueueFloors());
      const routes = new RoutedMessagesRepository(host.get(Database));
      const router = new OutboundMessageRouter(routes, messages, statuses, {} as WakeUps, host.get(Metrics));
      const keys = Array.from({ length: 10 }, (_, n) => ({
        tenantId: BIG,
        conversationId: CONVERSATION,
        messageId: sequential(n + 1),
      }));
      const plans = await plansOf(
        () => host.get(Database).queueTransaction((tx) => router.route(tx, keys)),
        /^(WITH|SELECT FROM|UPDATE)/,
      );
      for (const plan of plans) expect(rowsRead(plan)).toBeLessThan(150);
    });

    it('finds stale messages by index, a step at a time', async () => {
      const stale = new DueMessagesRepository(new QueueFloors());
      const plans = [
        ...(await plansOf(() => stale.findScheduled(new Date(0), server))),
        ...(await plansOf(() => stale.findDue(BEFORE_ALL_MESSAGES, server))),
        ...(await plansOf(() => stale.findStuck(BEFORE_ALL_MESSAGES, server))),
      ];

      for (const plan of plans) {
        expectOnlyIndexed(plan, ['outbound_messages']);
        expect(rowsRead(plan)).toBeLessThan(1_100);
      }
    });
  });

  describe('what an agent has not read', () => {
    beforeAll(() => run(host.stores.databaseAdminUrl, UNREAD), 60_000);

    // The agent has read the newest conversations of each view, another agent has read none.
    it.each([uuid(9), sequential(3)])('costs a bounded number of rows for %s', async (agentId) => {
      const marks = new ReadMarksRepository(host.get(Database));
      const agent = { tenantId: BIG, agentId };
      const listed = await host.query<{ id: string }>(
        `SELECT id FROM conversations WHERE tenant_id = $1 AND last_message_id IS NOT NULL LIMIT ${PAGE}`,
        [BIG],
      );
      const ids = listed.map(({ id }) => id);
      for (const plan of await plansOf(() => marks.listUnread(agent, ids))) {
        expectOnlyIndexed(plan, TABLES);
        // Of each: the conversation, its mark, and its newest message in two steps.
        expect(rowsRead(plan)).toBeLessThanOrEqual(5 * PAGE);
      }
      for (const plan of await plansOf(() => marks.readUnread(agent))) {
        expectOnlyIndexed(plan, TABLES);
        expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 200 * 3 + 100);
      }
    });

    const TABLES = ['conversations', 'messages', 'read_marks', 'contacts'];
  });

  describe('agents who are not there', () => {
    const newest = 'ffffffff-0000-7000-8000-000000004bf0';
    const wish = {
      agentId: uuid(9),
      way: 'MAIL' as const,
      mine: true,
      nobodys: true,
      assignments: true,
      since: newest,
      until: HIGHEST_ID,
    };

    beforeAll(() => run(host.stores.databaseAdminUrl, NOTICES), 60_000);

    it('are owed notices of a stretch of time, whose rows alone are read', async () => {
      const owed = new OwedNoticesRepository(host.get(Database));
      for (const wishes of [
        [{ ...wish, tenantId: BIG }],
        [BIG, TINY].map((tenantId) => ({ ...wish, tenantId })),
      ])
        for (const plan of await plansOf(() => owed.find(wishes))) {
          expectOnlyIndexed(plan, ['conversations', 'audit_entries', 'read_marks', 'agent_notices']);
          expect(indexesRead(plan)).toEqual(
            expect.arrayContaining([
              'conversations_waiting_idx',
              'conversations_activity_idx',
              'audit_entries_action_idx',
            ]),
          );
          // The newest 560 conversations twice, 280 assignments with conversations, and the marks of all.
          expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 560 + 2 * 280 + 840);
        }
    });

    it('are found, and their notices sent, by indexes', async () => {
      const choices = new NoticeChoicesRepository(host.get(Database));
      for (const plan of await plansOf(() => choices.list([LOWEST_ID, LOWEST_ID], server))) {
        expectInOrder(plan);
        expect(rowsRead(plan)).toBeLessThanOrEqual(100);
      }
      const notices = new AgentNoticesRepository();
      for (const plan of await plansOf(() => notices.findDue(BEFORE_ALL_DUE, server)))
        expect(indexesOf(plan)).toEqual(['agent_notices_due_idx']);
      const recipient = { tenantId: BIG, agentId: uuid(9), way: 'MAIL' as const };
      const work: ((tx: Transaction) => Promise<unknown>)[] = [
        (tx) => notices.deleteOver(tx, recipient),
        (tx) => notices.hasDue(tx, recipient),
        (tx) => notices.claim(tx, recipient, uuid(1)),
        (tx) => notices.listContents(tx, recipient, uuid(1)),
        (tx) => notices.setSent(tx, recipient, { sendingId: uuid(1), tries: 1 }),
        (tx) => notices.deleteOfAgent(tx, recipient),
        (tx) => notices.deleteOfConversation(tx, { tenantId: BIG, conversationId: CONVERSATION }),
      ];
      for (const step of work)
        for (const plan of await plansOf(
          () => host.get(Database).queueTransaction(step),
          /^\s*(SELECT(?! set_config)|DELETE|UPDATE|WITH)/,
        )) {
          expectOnlyIndexed(plan, ['agent_notices', 'conversations', 'contacts', 'read_marks', 'agents']);
          // Of the agent's 200 notices the row, the conversation, the mark, the choices and the contact.
          expect(rowsRead(plan)).toBeLessThanOrEqual(6 * 200 + 10);
        }
    });
  });

  describe('customers who wait for a reply', () => {
    const TABLES = ['conversations', 'contacts', 'messages'];
    const lists = () => host.app.get(ConversationListsRepository);

    beforeAll(() => run(host.stores.databaseAdminUrl, [WAITING]), 60_000);

    // The statistics are of a time when nobody waited, and then of afterwards.
    it.each(['stale', 'fresh'])(
      'are listed and counted by one index, by %s statistics',
      async (statistics) => {
        if (statistics === 'fresh') await run(host.stores.databaseAdminUrl, ['ANALYZE conversations']);
        const middle = (await lists().listActive(BIG, { isWaiting: true }, PAGE)).at(-1)!.position;
        for (const tenantId of [BIG, TINY]) {
          for (const cursor of [undefined, middle]) {
            const list = (filter: ActivityFilter = {}) =>
              lists().listActive(tenantId, { isWaiting: true, cursor, ...filter }, PAGE);
            for (const plan of await plansOf(() => list())) {
              expectOnlyIndexed(plan, TABLES);
              expect(indexesRead(plan)).toContain('conversations_waiting_idx');
              // Of a page's conversations the contact, the newest message and the lost one.
              expect(rowsRead(plan)).toBeLessThanOrEqual(5 * PAGE);
            }
            for (const filter of [{ channel: 'INSTAGRAM' }, { agentId: uuid(9) }] satisfies ListFilter[]) {
              for (const plan of await plansOf(() => list(filter))) {
                expectOnlyIndexed(plan, TABLES);
                expect(rowsRead(plan)).toBeLessThanOrEqual(1_010 + 3 * PAGE);
              }
              const find = () => lists().find(tenantId, filter, { order: 'waiting', cursor, count: PAGE });
              for (const plan of await plansOf(find)) {
                expectOnlyIndexed(plan, TABLES);
                expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 1_001 + 3 * PAGE);
              }
            }
          }
          for (const plan of await plansOf(() => lists().countWaiting(tenantId))) {
            expect(indexesRead(plan)).toContain('conversations_waiting_idx');
            expect(rowsRead(plan)).toBeLessThanOrEqual(MAX_COUNTED + 2);
          }
        }
      },
    );
  });

  describe('lost replies', () => {
    beforeAll(() => run(host.stores.databaseAdminUrl, LOST), 60_000);

    // The statistics are of before they were lost, and then of afterwards.
    it.each(['stale', 'fresh'])('cost a row for each conversation, by %s statistics', async (statistics) => {
      if (statistics === 'fresh') await run(host.stores.databaseAdminUrl, ['ANALYZE messages']);
      const conversations = host.app.get(ConversationListsRepository);
      for (const tenantId of [BIG, TINY]) {
        for (const plan of await plansOf(() => conversations.countLost(tenantId))) {
          expect(indexesRead(plan)).toEqual(['messages_lost_idx']);
          expect(rowsRead(plan)).toBeLessThanOrEqual(MAX_COUNTED + 2);
        }
        for (const plan of await plansOf(() => conversations.listLost(tenantId))) {
          expect(indexesRead(plan)).toEqual(['messages_lost_idx']);
          expect(rowsRead(plan)).toBeLessThanOrEqual(MAX_COUNTED + 1);
        }
      }
      const ids = await conversations.listLost(BIG);
      for (const plan of await plansOf(() => conversations.listActive(BIG, { ids }, PAGE))) {
        expectOnlyIndexed(plan, ['conversations', 'messages', 'contacts']);
        // Of a page's conversations the contact, the newest message and the lost one.
        expect(rowsRead(plan)).toBeLessThanOrEqual(ids.length + 3 * PAGE);
      }
    });

    it('are dismissed by key, up to a thousand of a conversation', async () => {
      const lost = host.app.get(LostMessagesRepository);
      const conversation = { tenantId: BIG, conversationId: CONVERSATION };
      const close = () =>
        host
          .get(Database)
          .transaction(
            async (tx) => void (await lost.dismissAllPipelined(tx, conversation, new Date()).rows),
          );
      for (const plan of await plansOf(close, /^UPDATE/)) {
        expectOnlyIndexed(plan, ['messages']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(4 * MAX_COUNTED);
      }
      const key = { ...conversation, messageId: sequential(1) };
      const dismiss = () =>
        host
          .get(Database)
          .transaction(async (tx) => void (await lost.dismissPipelined(tx, key, new Date()).rows));
      for (const plan of await plansOf(dismiss, /^UPDATE/)) expect(rowsRead(plan)).toBeLessThanOrEqual(1);
    });
  });

  describe('what agents write for themselves', () => {
    const tx = <T>(work: (one: Transaction) => Promise<T>) => host.get(Database).transaction(work);
    const own = { tenantId: BIG, agentId: WRITER };
    const draft = { ...own, conversationId: CONVERSATION };
    const conversation = { tenantId: BIG, conversationId: CONVERSATION };

    /** Expects that every statement of a call reads by one of the indexes, and at most a number of rows. */
    async function expectRows(
      call: () => Promise<unknown>,
      index: string | string[],
      most: number,
    ): Promise<void> {
      for (const plan of await plansOf(call)) {
        expectOnlyIndexed(plan, ['notes', 'drafts', 'saved_replies']);
        expect([index].flat()).toEqual(expect.arrayContaining(indexesOf(plan)));
        expect(rowsRead(plan)).toBeLessThanOrEqual(most);
      }
    }

    it('lists the notes of a conversation, and finds one, by index', async () => {
      const notes = new NotesRepository(host.get(Database));
      for (const cursor of [undefined, sequential(ROWS / 4), sequential(3_000)])
        expectPage(await plansOf(() => notes.list(conversation, cursor, PAGE)), 'notes_conversation_idx');
      expectPage(
        await plansOf(() => notes.listFrom(conversation, LOWEST_ID, PAGE)),
        'notes_conversation_idx',
      );
      const [{ id } = { id: '' }] = await notes.list(conversation, undefined, 1);
      await expectRows(() => tx((one) => notes.lock(one, BIG, id)), 'notes_pkey', 1);
      await expectRows(() => tx((one) => notes.delete(one, { id, tenantId: BIG } as Note)), 'notes_pkey', 1);
      const erased = { ...conversation, ids: [], withContact: false };
      const eventIds = Array.from({ length: PAGE }, (_, n) => sequential(2 * n + 2));
      const erase = () => tx((one) => notes.erase(one, { ...erased, eventIds }));
      await expectRows(erase, ['notes_pkey', 'notes_conversation_idx'], PAGE);
    });

    it("reads an agent's drafts by key, and those of a conversation by index", async () => {
      const drafts = new DraftsRepository(host.get(Database));
      const most = MAX_DRAFTS + 1;
      await expectRows(() => drafts.find(draft), 'drafts_pkey', 1);
      await expectRows(() => tx((one) => drafts.lock(one, draft)), 'drafts_pkey', 1);
      await expectRows(
        () => tx((one) => Promise.resolve(void drafts.deleteSentPipelined(one, draft, 'Hello'))),
        'drafts_pkey',
        1,
      );
      await expectRows(() => drafts.list(own), 'drafts_pkey', most);
      // It reads the drafts once more for each that it deletes.
      await expectRows(() => tx((one) => drafts.deleteExcess(one, own)), 'drafts_pkey', most + 1);
      const erased = { ...conversation, ids: [], eventIds: [newId()], withContact: false };
      await expectRows(() => tx((one) => drafts.erase(one, erased)), 'drafts_conversation_idx', 6_000);
    });

    it.each([BIG, TINY])('reads the saved replies of the workspace %s by index', async (tenantId) => {
      const replies = new SavedRepliesRepository(host.get(Database));
      // A workspace with few of them may be sorted.
      const either = ['saved_replies_name_idx', 'saved_replies_pkey'];
      await expectRows(() => replies.list(tenantId), either, 200);
      const find = () => tx((one) => replies.findIdByName(one, tenantId, 'Reply 4'));
      await expectRows(find, either, 5);
      const lock = () => tx((one) => replies.lock(one, tenantId, sequential(4)));
      await expectRows(lock, 'saved_replies_pkey', 1);
    });

    it('counts the few saved replies of a workspace by index', async () => {
      const replies = new SavedRepliesRepository(host.get(Database));
      for (const plan of await plansOf(() => tx((one) => replies.count(one, TINY)))) {
        expectOnlyIndexed(plan, ['saved_replies']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(10);
      }
    });
  });

  it('counts the unused uploads of a visitor by index, among the many files of a workspace', async () => {
    await run(host.stores.databaseAdminUrl, [
      `INSERT INTO files (tenant_id, id, uploader, name, size, delete_at, created_at)
       SELECT '${BIG}', gen_random_uuid(), 'contact:' || n % 1000, 'a', 1, CASE WHEN n < 20000 THEN now() END, now()
       FROM generate_series(1, 100000) AS n`,
      'ANALYZE files',
    ]);
    const files = new FilesRepository(host.get(Database));
    const count = () => host.get(Database).transaction((tx) => files.countUnused(tx, BIG, 'contact:7'));
    const plans = await plansOf(count);
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) {
      expect(indexesOf(plan)).toEqual(['files_unused_idx']);
      expect(rowsRead(plan)).toBeLessThanOrEqual(21);
    }
  });
});
