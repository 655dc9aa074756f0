import { CHANNELS } from '../../src/common/channel-descriptors';
import { ConversationListsRepository } from '../../src/conversations/conversation-lists.repository';
import {
  ConversationPartner,
  ConversationsRepository,
} from '../../src/conversations/conversations.repository';
import { ActivityFilter } from '../../src/conversations/list-statement';
import { MAX_COUNTED } from '../../src/database/bounded-count';
import { Database } from '../../src/database/database';
import { DatabaseClock } from '../../src/database/database-clock';
import { Transaction } from '../../src/database/transaction';
import { MessagingHost } from '../support/messaging-host';
import { expectOnlyIndexed, indexesRead, PlanReader, rowsRead } from './plans';
import { PAGE, run, sequential, uuid } from './rows';

/** Number of messages. `npm run test:plans` sets ten million, which takes minutes to write. */
const MESSAGES = Number(process.env['PLAN_MESSAGES'] ?? 100_000);
const CONVERSATIONS = MESSAGES / 10;
/** Number of contacts: some have a second conversation, on another channel. */
const CONTACTS = CONVERSATIONS * 0.8;
/** Number of messages that one statement inserts. */
const STEP = 1_000_000;
/** Workspace with two fifths of the rows. The rest is spread over 200 others. */
const BIG = uuid(1);
const SMALL = uuid(1_003);
const LIN = uuid(9);

const idOf = (number: string) =>
  `(lpad(to_hex(${number}), 12, '0') || '70008000' || lpad(to_hex(${number}), 12, '0'))::uuid`;
const tenantOf = (number: string) =>
  `CASE WHEN ${number} % 5 < 2 THEN '${BIG}'
   ELSE ('00000000-0000-7000-8000-' || lpad((1000 + ${number} % 200)::text, 12, '0'))::uuid END`;

const FILL = [
  // Foreign keys are not checked row by row.
  'SET session_replication_role = replica',
  `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at)
   SELECT ${tenantOf('i')}, ${idOf('i')}, 'Ana', now(), now() FROM generate_series(0, ${CONTACTS - 1}) i`,
  `INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
   SELECT tenant_id, 'TELEGRAM', id::text, id, now() FROM contacts`,
  `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, last_message_id,
     last_message_at, created_at, updated_at)
   SELECT ${tenantOf('i')}, ${idOf('i')}, ${idOf(`i % ${CONTACTS}`)},
     (ARRAY['${CHANNELS.join("','")}'])[1 + (i / 7 + i / ${CONTACTS}) % 5],
     CASE WHEN i / 200 % 10 = 0 THEN 'OPEN' WHEN i / 200 % 50 = 1 THEN 'SNOOZED' ELSE 'CLOSED' END,
     CASE WHEN i % 3 = 0 THEN '${LIN}'::uuid END, ${idOf('i * 10 + 9')}, now(), now(), now()
   FROM generate_series(0, ${CONVERSATIONS - 1}) i`,
  ...Array.from(
    { length: Math.ceil(MESSAGES / STEP) },
    (_, step) =>
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
       SELECT ${tenantOf('(j / 10)')}, ${idOf('j / 10')}, ${idOf('j')}, CASE WHEN j % 2 = 0 THEN 'AGENT' ELSE 'CUSTOMER' END,
         CASE WHEN j % 2 = 0 THEN '${LIN}'::uuid END, 'Message ' || j, CASE WHEN j % 2 = 0 THEN 'SENT' END, now()
       FROM generate_series(${step * STEP}, ${Math.min(MESSAGES, (step + 1) * STEP) - 1}) j`,
  ),
  'ANALYZE contacts, contact_identities, conversations, messages',
];

const WAITING = `UPDATE conversations SET waiting_message_id = last_message_id WHERE status = 'OPEN'`;

/** Tests of the plans over a history of many messages, in which each contact has few conversations. */
describe('plans over many messages', () => {
  let host: MessagingHost;
  let reader: PlanReader;

  beforeAll(async () => {
    host = await MessagingHost.create();
    // The clock's own statements, every ten seconds, would be counted as those of a call.
    await host.app.get(DatabaseClock, { strict: false }).beforeApplicationShutdown();
    reader = await PlanReader.start(host.stores.databaseUrl);
    await run(host.stores.databaseAdminUrl, FILL);
  }, 3_600_000);
  afterAll(() => reader.stop());

  const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) => host.get(Database).transaction(work);

  // The statistics are of a time when nobody waited, and then of afterwards.
  it.each(['stale', 'fresh'])('of those who wait read a page, by %s statistics', async (statistics) => {
    await run(host.stores.databaseAdminUrl, [statistics === 'stale' ? WAITING : 'ANALYZE conversations']);
    const lists = host.app.get(ConversationListsRepository);
    const list = (tenantId: string, filter: ActivityFilter = {}) =>
      lists.listActive(tenantId, { isWaiting: true, ...filter }, PAGE);
    for (const tenantId of [BIG, SMALL]) {
      const later = (await list(tenantId)).at(-1)!.position;
      for (const cursor of [undefined, later]) {
        const pages: [ActivityFilter, number][] = [
          [{}, 5 * PAGE],
          [{ agentId: LIN }, 1_000 + 5 * PAGE],
          [{ agentId: null }, 1_000 + 5 * PAGE],
          [{ channel: 'TELEGRAM' }, 1_000 + 5 * PAGE],
        ];
        for (const [filter, most] of pages)
          for (const plan of await reader.read(() => list(tenantId, { cursor, ...filter }))) {
            expectOnlyIndexed(plan, ['conversations', 'contacts', 'messages']);
            expect(indexesRead(plan)).toContain('conversations_waiting_idx');
            expect(rowsRead(plan)).toBeLessThanOrEqual(most);
          }
        for (const filter of [{}, { agentId: LIN }, { channel: 'TELEGRAM' as const }]) {
          const find = () => lists.find(tenantId, filter, { order: 'waiting', cursor, count: PAGE });
          for (const plan of await reader.read(find)) {
            expectOnlyIndexed(plan, ['conversations', 'contacts']);
            expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 1_001 + 3 * PAGE);
          }
        }
      }
      for (const plan of await reader.read(() => lists.countWaiting(tenantId))) {
        expect(indexesRead(plan)).toEqual(['conversations_waiting_idx']);
        expect(rowsRead(plan)).toBeLessThanOrEqual(MAX_COUNTED + 2);
      }
    }
  });

  it("of a contact's newest conversation on a channel read the conversations of the contact alone", async () => {
    const repository = host.app.get(ConversationsRepository);
    const contacts = [sequential(CONVERSATIONS - CONTACTS), sequential(CONTACTS - 1), sequential(MESSAGES)];
    for (const tenantId of [BIG, SMALL])
      for (const contactId of contacts)
        for (const channel of CHANNELS) {
          const partner: ConversationPartner = {
            tenantId,
            contactId,
            sourceChannel: channel,
            identityExternalId: 'x',
          };
          const lock = () => inTransaction((tx) => repository.lockLatest(tx, partner));
          for (const plan of await reader.read(lock, /^SELECT tenant_id/)) {
            expect(indexesRead(plan)).toEqual(['conversations_contact_idx']);
            expect(rowsRead(plan)).toBeLessThanOrEqual(2);
          }
        }
  });

  it('that end the wait of a customer read the conversations of the contact alone', async () => {
    const repository = host.app.get(ConversationsRepository);
    const customer = { tenantId: BIG, channel: 'TELEGRAM' as const, externalId: sequential(1) };
    const end = () => inTransaction((tx) => repository.endWait(tx, customer, new Date()));
    for (const plan of await reader.read(end)) {
      expectOnlyIndexed(plan, ['conversations', 'contact_identities']);
      expect(rowsRead(plan)).toBeLessThanOrEqual(2);
    }
  });
});
