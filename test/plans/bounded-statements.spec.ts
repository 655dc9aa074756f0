import { Connection } from '../../src/channels/adapters/channel-adapter';
import { InboundWatermark } from '../../src/channels/adapters/hook-events';
import { ReceiptsRepository } from '../../src/channels/receipts/receipts.repository';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { DatabaseClock } from '../../src/database/database-clock';
import { Transaction } from '../../src/database/transaction';
import { FirstAttempts } from '../../src/webhooks/browsing/first-attempts';
import { DeliveryCountsRepository } from '../../src/webhooks/rollups/delivery-counts.repository';
import { MessageStatusRepository } from '../../src/messages/message-status.repository';
import { MessagingHost } from '../support/messaging-host';
import { buffersRead, PlanReader } from './plans';
import { run } from './rows';

const FEW = 10_000;
const MANY = 1_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Messages of the conversation that its customer has not read. */
const UNREAD = 20;

/** Events of a workspace whose first attempts are under way: as many as one search looks at. */
const LEASED = 2_000;

const [TENANT, ENDPOINT, CONTACT, CONVERSATION, CONNECTION, BUSY] = Array.from({ length: 6 }, newId) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
/** Moment of the row with number 0. The rows of the last hours follow it, all of the day that is counted. */
const FROM_MS = Date.now() - DAY_MS * 0.9;

/** SQL expression for the id of the row `i`, a million of which are of less than a day. */
const ID = `(lpad(to_hex(${Math.floor(FROM_MS)} + i * 70), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;

const FIRST_ROWS = [
  // Only what is read counts here. A million keys more to check would take a minute.
  `DO $$ DECLARE key record; BEGIN
     FOR key IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
                WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'public'::regnamespace LOOP
       EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.name, key.conname);
     END LOOP; END $$`,
  `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
   VALUES ('${TENANT}', 'Workspace', 'slug', 'PRO', now(), now()), ('${BUSY}', 'Busy', 'busy', 'PRO', now(), now())`,
  `INSERT INTO events (tenant_id, id, type, data, created_at)
   SELECT '${BUSY}', ${ID}, 'message.created', '{}', now() FROM generate_series(1, ${LEASED}) i`,
  `INSERT INTO event_queue (tenant_id, event_id, queued_at, lease_id, lease_until)
   SELECT '${BUSY}', ${ID}, now() + interval '1 day', gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, ${LEASED}) i`,
  `INSERT INTO webhook_endpoints (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at,
     updated_at)
   SELECT gen_random_uuid(), '${BUSY}', 'https://example.com', '{*}', 'test', '\\x00', true, now(), now()
   FROM generate_series(1, 50)`,
  `INSERT INTO webhook_endpoints (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at,
     updated_at)
   VALUES ('${ENDPOINT}', '${TENANT}', 'https://example.com', '{*}', 'test', '\\x00', true, now(), now())`,
  `INSERT INTO contacts (id, tenant_id, created_at, updated_at) VALUES ('${CONTACT}', '${TENANT}', now(), now())`,
  `INSERT INTO contact_identities VALUES ('${TENANT}', 'MESSENGER', 'customer', '${CONTACT}', now())`,
  `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
   VALUES ('${TENANT}', '${CONVERSATION}', '${CONTACT}', 'MESSENGER', 'OPEN', now(), now())`,
];

/**
 * Returns SQL that inserts deliveries, of which a fifth has failed and a tenth is late, and messages, of
 * which the last ones are unread.
 */
const rows = (first: number, last: number) => [
  `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
     finished_at)
   SELECT '${TENANT}', ${ID}, 1, '${ENDPOINT}', ${ID}, 'message.created',
     CASE i % 10 WHEN 1 THEN 'EXHAUSTED' WHEN 2 THEN 'CANCELLED' ELSE 'SUCCEEDED' END,
     CASE i % 10 WHEN 3 THEN 2 ELSE 1 END, now()
   FROM generate_series(${first}, ${last}) i`,
  `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
     recovered, next_attempt_at)
   SELECT '${TENANT}', ${ID.replace('7000', '7100')}, '${ENDPOINT}', 1, ${ID}, 'message.created', 2, 0, false, now()
   FROM generate_series(${first}, ${last}) i`,
  `UPDATE messages SET delivery_status = 'READ' WHERE delivery_status = 'SENT'`,
  `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
     created_at)
   SELECT '${TENANT}', '${CONVERSATION}', ${ID}, 'AGENT', '${newId()}', 'Text',
     CASE WHEN i > ${last - UNREAD} THEN 'SENT' ELSE 'READ' END, now()
   FROM generate_series(${first}, ${last}) i`,
  `INSERT INTO provider_messages (tenant_id, connection_id, provider_id, conversation_id, message_id, sent_at,
     created_at)
   SELECT '${TENANT}', '${CONNECTION}', i, '${CONVERSATION}', ${ID}, now(), now()
   FROM generate_series(${first}, ${last}) i`,
  'VACUUM ANALYZE webhook_deliveries, pending_deliveries, messages, provider_messages',
];

/** Tests that statements over tables which grow read as many buffers of a hundred times as many rows. */
describe('statements over ten thousand rows and a million', () => {
  let host: MessagingHost;
  let reader: PlanReader;
  const few = new Map<string, number>();

  /** Calls that no caller waits long for, however much is stored. */
  const calls: Record<string, () => Promise<unknown>> = {
    'the health of an endpoint': () =>
      host.get(DeliveryCountsRepository).countByStatus(TENANT, ENDPOINT, new Date(Date.now() - DAY_MS)),
    'a watermark of a customer who has read': () => advanceUntil('READ'),
    'a watermark of a customer who has received': () => advanceUntil('DELIVERED'),
  };

  /** Advances what a customer has read, and rolls back. */
  async function advanceUntil(status: 'READ' | 'DELIVERED'): Promise<void> {
    const connection = { tenantId: TENANT, id: CONNECTION, channel: 'MESSENGER' } as Connection;
    const watermark: InboundWatermark = {
      kind: 'watermark',
      accountId: 'account',
      customerId: 'customer',
      status,
      until: new Date(Date.now() + DAY_MS),
    };
    const receipts = new ReceiptsRepository(host.get(MessageStatusRepository));
    const rollBack = new Error('rolled back');
    const advance = async (tx: Transaction) => {
      await receipts.advanceUntil(tx, connection, watermark);
      throw rollBack;
    };
    await expect(host.get(Database).queueTransaction(advance)).rejects.toBe(rollBack);
  }

  beforeAll(async () => {
    host = await MessagingHost.create();
    // The clock's own statements, every ten seconds, would be counted as those of a call.
    await host.app.get(DatabaseClock, { strict: false }).beforeApplicationShutdown();
    reader = await PlanReader.start(host.stores.databaseUrl);
    await run(host.stores.databaseAdminUrl, [...FIRST_ROWS, ...rows(1, FEW)]);
    for (const [name, call] of Object.entries(calls)) few.set(name, buffersRead(await reader.read(call)));
    await run(host.stores.databaseAdminUrl, rows(FEW + 1, MANY));
    // Four million rows are written here, which takes a minute on two free cores.
  }, 600_000);
  afterAll(async () => {
    await reader.stop();
  });

  it.each(Object.keys(calls))('read nearly as much for %s', async (name) => {
    expect(buffersRead(await reader.read(calls[name]!))).toBeLessThan(1.5 * few.get(name)!);
  });

  it('ask for the deliveries of a page, and of an event, among a hundred thousand first attempts', async () => {
    const firstAttempts = host.get(FirstAttempts);
    const [event] = await host.query<{ id: string }>('SELECT max(event_id::text) AS id FROM event_queue');
    const [first] = await firstAttempts.list(BUSY, {}, 51);
    expect(first!.eventId).toBe(event!.id);
    expect(await firstAttempts.findMany(BUSY, [first!.id])).toEqual([first]);

    expect(await reader.countValues(() => firstAttempts.list(BUSY, {}, 51))).toBeLessThan(2_500);
    expect(await reader.countValues(() => firstAttempts.findMany(BUSY, [first!.id]))).toBeLessThan(10);
  });
});
