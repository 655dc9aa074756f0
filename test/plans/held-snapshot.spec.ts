import { Client } from 'pg';
import { LoadedConnection } from '../../src/channels/connections/connection-loader';
import {
  BEFORE_ALL_MESSAGES,
  DueMessagesRepository,
} from '../../src/channels/outbound/due-messages.repository';
import { OutboundMessageRouter } from '../../src/channels/outbound/outbound-message-router';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import {
  failUnconnectedSql,
  RoutedMessagesRepository,
} from '../../src/channels/outbound/routed-messages.repository';
import { LOWEST_ID, newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { OneServer } from '../../src/database/placement/one-server';
import { DatabaseClock } from '../../src/database/database-clock';
import { Transaction } from '../../src/database/transaction';
import { MessageStatusRepository } from '../../src/messages/message-status.repository';
import { StatusEvents } from '../../src/messages/status-events';
import { Metrics } from '../../src/metrics/metrics';
import { ClaimedEvent, EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { QueuedWorkspacesRepository } from '../../src/outbox/queued-workspaces.repository';
import { OutboxService } from '../../src/outbox/outbox.service';
import { QueueFloors } from '../../src/queue/floors/queue-floors';
import { QueueFloorsRepository } from '../../src/queue/floors/queue-floors.repository';
import { WakeUps } from '../../src/queue/wake-ups';
import { AttemptRecord } from '../../src/webhooks/deliveries/delivery';
import {
  BEFORE_ALL_ENDPOINTS,
  DueDeliveriesRepository,
} from '../../src/webhooks/deliveries/due-deliveries.repository';
import { PendingDeliveriesRepository } from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { holdSnapshot } from '../support/held-snapshot';
import { EventlessChanges } from '../../src/outbox/eventless-changes';
import { RedisSignals } from '../../src/redis/redis-signals';
import { MessagingHost } from '../support/messaging-host';
import { buffersRead, PlanReader } from './plans';
import { run, uuid } from './rows';

const [TENANT, ENDPOINT, CONNECTION, CONTACT, AGENT, WIDGET] = [1, 2, 3, 4, 5, 6].map(uuid) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
/** Id of an unsent message that is newer than all others. */
const UNSENT = '7fffffff-0000-7000-8000-000000000000';
/** Numbers of dead rows that the snapshot keeps, of events, of deliveries and of outbound messages. */
const FEW = 10_000;
const MANY = 100_000;
/** Number of conversations of the dead messages. A claim reads all that has died in its own conversation. */
const CONVERSATIONS = 1_000;
/** Number of live rows behind the dead ones. */
const LIVE = 5;
/** Number of live rows that a claim asks for: more than there are, so that it reads to the end. */
const COUNT = 20;

/** A worker's way to the queues: each has floors of its own. */
class Worker {
  readonly events: EventQueueRepository;
  readonly workspaces: QueuedWorkspacesRepository;
  readonly pending: PendingDeliveriesRepository;
  readonly due: DueDeliveriesRepository;
  readonly messages: OutboundMessagesRepository;
  readonly dueMessages: DueMessagesRepository;
  private readonly server: OneServer;
  readonly router: OutboundMessageRouter;

  constructor(
    private readonly database: Database,
    readonly floors: QueueFloors,
    changes: EventlessChanges,
  ) {
    this.server = new OneServer(database);
    this.events = new EventQueueRepository(database, floors);
    this.workspaces = new QueuedWorkspacesRepository(floors);
    const outbox = new OutboxService(this.events, {} as RedisSignals);
    const statuses = new MessageStatusRepository(database, changes, new StatusEvents(outbox));
    this.pending = new PendingDeliveriesRepository(database, floors);
    this.due = new DueDeliveriesRepository(floors);
    this.messages = new OutboundMessagesRepository(database, statuses, floors);
    this.dueMessages = new DueMessagesRepository(floors);
    this.router = new OutboundMessageRouter(
      new RoutedMessagesRepository(database),
      this.messages,
      statuses,
      {} as WakeUps,
      {} as Metrics,
    );
  }

  /** Calls that read the queues, by what they do. */
  get reads(): Record<string, () => Promise<unknown>> {
    const connection = { tenantId: TENANT, id: CONNECTION } as LoadedConnection;
    const request = { tenantId: TENANT, endpointId: ENDPOINT, activation: 1, recovered: false, count: COUNT };
    const leases = Array.from({ length: COUNT }, () => ({
      tenantId: TENANT,
      eventId: newId(),
      leaseId: newId(),
    }));
    const records = leases.map(({ leaseId }) => ({
      delivery: {
        id: newId(),
        endpoint: { id: ENDPOINT, tenantId: TENANT },
        lease: { id: leaseId },
        round: 1,
        attemptCount: 0,
      },
      outcome: null,
      status: 'PENDING',
      retryDelayMs: 1_000,
    })) as unknown as AttemptRecord[];
    return {
      'a claim of events': () =>
        this.rolledBack((tx) =>
          this.events.claim(tx, new Map([[TENANT, COUNT]]), newId(), { handleSql: failUnconnectedSql }),
        ),
      'a poll of events': () => this.workspaces.findWorkspaces(LOWEST_ID, this.server),
      'a list of events under a lease': () => this.events.listLeased(TENANT),
      'a claim of deliveries': () => this.rolledBack((tx) => this.pending.claim(tx, [request], newId())),
      'a poll of deliveries': () => this.due.findDue(BEFORE_ALL_ENDPOINTS, this.server),
      'a settlement of events': () =>
        this.rolledBack((tx) => this.events.settle(tx, leases.slice(0, 5), leases.slice(5))),
      'a return of events': () =>
        this.rolledBack((tx) =>
          this.events.giveBack(
            tx,
            leases.map(({ eventId: id, ...lease }) => ({ ...lease, id, wasLeased: false }) as ClaimedEvent),
          ),
        ),
      'a record of deliveries': () => this.rolledBack((tx) => this.pending.settle(tx, records)),
      'a postponement of deliveries': () =>
        this.rolledBack(async (tx) => {
          await this.pending.postponePipelined(
            tx,
            records.map(({ delivery }) => delivery),
            newId(),
            1_000,
          ).rows;
        }),
      'a route of a message without a connection': () =>
        this.rolledBack(
          (tx) => this.router.route(tx, [{ tenantId: TENANT, conversationId: WIDGET, messageId: UNSENT }]),
          'queueTransaction',
        ),
      'a claim of messages': () => this.messages.countReady(connection, COUNT),
      'a poll of messages': () => this.dueMessages.findDue(BEFORE_ALL_MESSAGES, this.server),
    };
  }

  /** Claims once, and polls: from then on the worker knows the floors of what it claims. */
  async work(): Promise<void> {
    for (const read of Object.values(this.reads)) await read();
  }

  private async rolledBack(
    work: (tx: Transaction) => Promise<unknown>,
    kind: 'orderedTransaction' | 'queueTransaction' = 'orderedTransaction',
  ): Promise<void> {
    const undone = new Error('rolled back');
    const outcome = this.database[kind](async (tx) => {
      await work(tx);
      throw undone;
    });
    await outcome.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  }
}

/**
 * Tests of the pages that claims and polls read while a snapshot is held open, which keeps all rows that have
 * died since, and their entries in the indexes.
 */
describe('beside a snapshot that is held open', () => {
  let host: MessagingHost;
  let reader: PlanReader;
  let snapshot: Client;
  let worker: Worker;
  let saved: QueueFloorsRepository;
  const pages: Record<number, Record<string, number>> = {};

  beforeAll(async () => {
    host = await MessagingHost.create();
    await host.app.get(DatabaseClock, { strict: false }).beforeApplicationShutdown();
    const admin = host.stores.databaseAdminUrl;
    await run(admin, TARGETS);
    snapshot = await holdSnapshot(admin);
    reader = await PlanReader.start(host.stores.databaseUrl);
    worker = new Worker(host.get(Database), usedFloors(), host.get(EventlessChanges));
    saved = new QueueFloorsRepository(host.get(Database));
    await run(admin, liveRows());
    await worker.work();
    await saved.save(worker.floors.takeUnsaved());
    await run(admin, deadRows(0, FEW));
    pages[FEW] = await pagesOf(worker);
    await run(admin, deadRows(FEW, MANY));
    // Statistics as autovacuum leaves them: few live rows on many pages.
    await run(admin, ['VACUUM event_queue, pending_deliveries, outbound_messages']);
    pages[MANY] = await pagesOf(worker);
  }, 120_000);
  afterAll(async () => {
    await snapshot.end();
    await reader.stop();
  });

  it.each(Object.keys(new Worker({} as Database, new QueueFloors(), {} as EventlessChanges).reads))(
    '%s reads no more pages after ten times as many rows have died',
    (name) => {
      // A read of few pages may take one or two more, when an index grows by a level.
      expect(pages[MANY]![name]!).toBeLessThan(1.5 * pages[FEW]![name]! + 3);
      expect(pages[MANY]![name]!).toBeLessThan(300);
    },
  );

  it('costs a worker no more that starts now, by the floors that others have saved', async () => {
    const floors = usedFloors();
    floors.addSaved(await saved.list(new Date(0)));
    const started = await pagesOf(new Worker(host.get(Database), floors, host.get(EventlessChanges)));

    for (const [name, count] of Object.entries(pages[MANY]!))
      expect([name, started[name]! <= 1.5 * count + 3]).toEqual([name, true]);
  });

  it('costs a claim without a floor all of it, which shows that the rows are kept', async () => {
    const fresh = await pagesOf(new Worker(host.get(Database), usedFloors(), host.get(EventlessChanges)));

    expect(fresh['a claim of events']).toBeGreaterThan(MANY / 100);
    expect(fresh['a claim of deliveries']).toBeGreaterThan(MANY / 100);
    expect(fresh['a claim of messages']).toBeGreaterThan(MANY / 100);
  });

  async function pagesOf({ reads }: Worker): Promise<Record<string, number>> {
    const all: Record<string, number> = {};
    for (const [name, read] of Object.entries(reads)) all[name] = buffersRead(await reader.read(read));
    return all;
  }
});

/** SQL for the number of a dead message's conversation. */
const DEAD = `i % ${CONVERSATIONS}`;

/** Returns SQL for the id of the conversation of a number. */
function conversationOf(i: string): string {
  return `('00000000-0000-7000-8000-' || lpad((1000 + ${i})::text, 12, '0'))::uuid`;
}

const TARGETS = [
  `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
   VALUES ('${TENANT}', 'Workspace', 'slug', 'PRO', now(), now())`,
  `INSERT INTO agents (tenant_id, id, name, email, role, is_bot, active, created_at, updated_at)
   VALUES ('${TENANT}', '${AGENT}', 'Ana', 'ana@example.com', 'OWNER', false, true, now(), now())`,
  `INSERT INTO contacts (id, tenant_id, created_at, updated_at) VALUES ('${CONTACT}', '${TENANT}', now(), now())`,
  `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
   SELECT '${TENANT}', ${conversationOf('i')}, '${CONTACT}', 'TELEGRAM', 'OPEN', now(), now()
   FROM generate_series(0, ${CONVERSATIONS}) i`,
  `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
   VALUES ('${TENANT}', '${WIDGET}', '${CONTACT}', 'WIDGET', 'OPEN', now(), now())`,
  `INSERT INTO webhook_endpoints (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at,
     updated_at)
   VALUES ('${ENDPOINT}', '${TENANT}', 'https://example.com', '{*}', 'test', '\\x00', true, now(), now())`,
  `INSERT INTO channel_connections
   SELECT '${TENANT}', '${CONNECTION}', 'TELEGRAM', '1', '1', '{}', 'test', '\\x00', NULL, 'ACTIVE', NULL, now(), now()`,
];

/** Returns SQL for the id of a time in milliseconds. */
const idAt = (ms: string) =>
  `(lpad(to_hex((${ms})::bigint), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;
/** SQL for a time between ten and five minutes ago, by the row's number. */
const DIED_MS = `extract(epoch FROM now()) * 1000 - 600000 + i * 300000.0 / ${MANY}`;
const DIED_AT = `now() - interval '10 minutes' + i * interval '300 seconds' / ${MANY}`;

const messageRows = (conversation: string, from: number, to: number, status: string) => `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${TENANT}', ${conversation}, ${idAt('i')}, 'AGENT', '${AGENT}', 'Message', '${status}', now()
  FROM generate_series(${from + 1}, ${to}) i`;

function liveRows(): string[] {
  const live = `generate_series(1, ${LIVE}) i`;
  const id = idAt('extract(epoch FROM now()) * 1000');
  return [
    `INSERT INTO events (tenant_id, id, type, data, created_at)
     SELECT '${TENANT}', ${id}, 'message.created', '{}', now() FROM ${live}`,
    `INSERT INTO event_queue (tenant_id, event_id) SELECT tenant_id, id FROM events`,
    `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
       recovered, next_attempt_at)
     SELECT tenant_id, id, '${ENDPOINT}', 1, id, type, 1, 0, false, now() FROM events`,
    messageRows(conversationOf(`${CONVERSATIONS}`), 2 * MANY, 2 * MANY + 1, 'QUEUED'),
    `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
     SELECT tenant_id, conversation_id, id, '${CONNECTION}', now() FROM messages`,
    `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
     VALUES ('${TENANT}', '${WIDGET}', '${UNSENT}', 'AGENT', '${AGENT}', 'Message', 'QUEUED', now())`,
  ];
}

/** Returns SQL by which rows appear in the queues and die. */
function deadRows(from: number, to: number): string[] {
  const rows = `generate_series(${from + 1}, ${to}) i`;
  return [
    `INSERT INTO event_queue (tenant_id, event_id, queued_at) SELECT '${TENANT}', ${idAt(DIED_MS)}, ${DIED_AT} FROM ${rows}`,
    `DELETE FROM event_queue WHERE queued_at < now() - interval '5 minutes'`,
    `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
       recovered, next_attempt_at)
     SELECT '${TENANT}', ${idAt('i')}, '${ENDPOINT}', 1, '${ENDPOINT}', 'message.created', 1, 0, false, ${DIED_AT} FROM ${rows}`,
    `DELETE FROM pending_deliveries WHERE event_id = '${ENDPOINT}'`,
    messageRows(`'${WIDGET}'`, from, to, 'QUEUED'),
    `UPDATE messages SET delivery_status = 'FAILED'
     WHERE conversation_id = '${WIDGET}' AND delivery_status = 'QUEUED' AND id <> '${UNSENT}'`,
    messageRows(conversationOf(DEAD), from, to, 'SENT'),
    `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
     SELECT '${TENANT}', ${conversationOf(DEAD)}, ${idAt('i')}, '${CONNECTION}', ${DIED_AT} FROM ${rows}`,
    `DELETE FROM outbound_messages WHERE next_attempt_at < now() - interval '5 minutes'`,
  ];
}

function usedFloors(): QueueFloors {
  const floors = new QueueFloors();
  floors.use(true);
  return floors;
}
