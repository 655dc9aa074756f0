import { getDataSourceToken } from '@nestjs/typeorm';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { DATA_SOURCE, Database } from '../../src/database/database';
import { EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { AttemptRecorder } from '../../src/webhooks/deliveries/attempt-recorder';
import { AutomaticRecoveriesRepository } from '../../src/webhooks/endpoints/automatic-recoveries.repository';
import { RecoveryOutcomesRepository } from '../../src/webhooks/deliveries/recovery-outcomes.repository';
import { AttemptRecord, NOT_ATTEMPTED } from '../../src/webhooks/deliveries/delivery';
import { DeliveryHistoryRepository } from '../../src/webhooks/deliveries/delivery-history.repository';
import { PendingDeliveriesRepository } from '../../src/webhooks/deliveries/pending-deliveries.repository';
import {
  BEFORE_ALL_CANCELLATIONS,
  PendingCancellationsRepository,
} from '../../src/webhooks/deliveries/pending-cancellations.repository';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { claimPending, recordOf } from '../support/claimed-deliveries';
import { failConnections } from '../support/failing-sockets';
import { hasLockWait, waitForLockWait } from '../support/lock-waits';
import { MessagingHost } from '../support/messaging-host';
import { PostgresProxy } from '../support/postgres-proxy';
import { ProxiedHost } from '../support/proxied-host';
import { TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';
import { attemptsOf, deliveriesOf, insertPendingDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

/** HTTP status that no column holds, so that not even the reduced record can be written. */
const UNWRITABLE = 99_999;

/** Tests of records that the test alone makes: no worker runs. */
describe('recording attempts', () => {
  let backend: ProxiedHost;
  let stores: TestStores;
  let proxy: PostgresProxy;
  let host: MessagingHost;
  let recorder: AttemptRecorder;
  let subscription: Subscription;

  beforeAll(async () => {
    backend = await ProxiedHost.create();
    ({ stores, proxy, host } = backend);
    recorder = host.get(AttemptRecorder);
  });
  beforeEach(async () => {
    subscription = await subscribe(host, 'https://127.0.0.1:9999/');
  });
  afterEach(() => proxy.mend());

  /** Claims new deliveries of an endpoint, and returns the records of their failed last attempts. */
  async function attempted(count: number, owed = subscription): Promise<AttemptRecord[]> {
    await insertPendingDeliveries(host, owed, count);
    return (await claimPending(host, owed, count)).map((claimed) => recordOf(owed, claimed, 'EXHAUSTED'));
  }

  const unwritable = (record: AttemptRecord) =>
    ({ ...record, outcome: { ...record.outcome, statusCode: UNWRITABLE } }) as AttemptRecord;
  const submit = (records: AttemptRecord[]) =>
    Promise.allSettled(records.map((record) => recorder.record(record)));
  const statusesOf = (outcomes: PromiseSettledResult<unknown>[]) => outcomes.map(({ status }) => status);
  const statusOf = async ({ delivery: { id } }: AttemptRecord, owed = subscription) =>
    (await deliveriesOf(host, owed.endpoint)).find((stored) => stored.id === id)!.status;

  const lockDelivery = (locker: Client, { delivery }: AttemptRecord) =>
    locker.query('SELECT FROM pending_deliveries WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
      delivery.endpoint.tenantId,
      delivery.id,
    ]);

  /** Expects that two records were written, with all that the receiver answered. */
  async function expectWhole(): Promise<void> {
    const whole = { status_code: 500, error: 'status', error_message: 'Answered 500' };
    expect(await attemptsOf(host, subscription.endpoint)).toMatchObject([whole, whole]);
  }

  it.each(['ENETUNREACH', 'EMFILE', 'EADDRNOTAVAIL', 'CERT_HAS_EXPIRED', 'EAI_AGAIN'])(
    'waits while connections fail with %s, and drops nothing',
    async (code) => {
      const records = await attempted(2);
      const connections = failConnections(host.get(Database).pool, code);
      const recorded = submit(records);
      await waitFor('the second try', () => connections.count > 1);
      connections.mend();
      expect(statusesOf(await recorded)).toEqual(['fulfilled', 'fulfilled']);
      await expectWhole();
    },
  );

  it.each(['28P01', '28000', '3D000', '42501', '53300', '57P03'])(
    'waits while connections are answered with %s, and drops nothing',
    async (code) => {
      const records = await attempted(2);
      proxy.refuseConnections(code);
      const recorded = submit(records);
      await waitFor('the second try', () => proxy.refused > 1);
      proxy.mend();
      expect(statusesOf(await recorded)).toEqual(['fulfilled', 'fulfilled']);
      await expectWhole();
    },
  );

  it.each(['42501', '53100', '57P01'])(
    'waits while statements are answered with %s, and drops nothing',
    async (code) => {
      const records = await attempted(2);
      proxy.failStatements(code, /INSERT INTO webhook_deliveries/);
      const recorded = submit(records);
      await waitFor('the second try', () => proxy.failed > 1);
      proxy.mend();
      expect(statusesOf(await recorded)).toEqual(['fulfilled', 'fulfilled']);
      await expectWhole();
    },
  );

  it('fails one record alone that can’t be written, whatever its place in the batch', async () => {
    const records = await attempted(20);
    const bad = [0, 7, 19];
    const outcomes = await submit(
      records.map((record, n) => (bad.includes(n) ? unwritable(record) : record)),
    );
    expect(statusesOf(outcomes)).toEqual(records.map((_, n) => (bad.includes(n) ? 'rejected' : 'fulfilled')));
    const stored = await deliveriesOf(host, subscription.endpoint);
    expect(stored.filter(({ status }) => status === 'EXHAUSTED')).toHaveLength(17);
  });

  it('writes a record without the answer if PostgreSQL refuses only that', async () => {
    const [whole, refused] = (await attempted(2)) as [AttemptRecord, AttemptRecord];
    const text = { ...refused.outcome, errorMessage: 'a NUL: \0' } as AttemptRecord['outcome'];
    expect(statusesOf(await submit([whole, { ...refused, outcome: text }]))).toEqual([
      'fulfilled',
      'fulfilled',
    ]);
    const messages = (await attemptsOf(host, subscription.endpoint)).map(({ error_message: text }) => text);
    expect(messages.sort()).toEqual(['Answered 500', 'Not recorded']);
  });

  it('records the others, and the next batch, while one meets a lock', async () => {
    const other = await subscribe(host, 'https://127.0.0.1:9999/');
    const records = await attempted(10);
    const next = await attempted(3, other);
    const [locked, ...free] = records as [AttemptRecord, ...AttemptRecord[]];
    const locker = new Client({ connectionString: stores.databaseUrl });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      await lockDelivery(locker, locked);
      const stuck = recorder.record(locked);
      const beside = submit(free);
      await waitForLockWait(host, 'the batch');
      expect(statusesOf(await submit(next))).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      expect(new Set(statusesOf(await beside))).toEqual(new Set(['fulfilled']));
      expect(await statusOf(locked)).toBe('PENDING');
      await locker.query('COMMIT');
      await stuck;
      expect(await statusOf(locked)).toBe('EXHAUSTED');
    } finally {
      await locker.end();
    }
  });

  /** Makes a recorder whose batches are of one workspace each. */
  async function recorderApart(): Promise<AttemptRecorder> {
    const dataSource = host.app.get<DataSource>(getDataSourceToken(DATA_SOURCE), { strict: false });
    return new AttemptRecorder(
      await Database.forDataSource(dataSource, { crossWorkspaceBatches: false }),
      host.get(EventQueueRepository),
      host.get(PendingDeliveriesRepository),
      host.get(DeliveryHistoryRepository),
      host.get(RecoveryOutcomesRepository),
      host.get(AutomaticRecoveriesRepository),
    );
  }

  it('goes on without batches across workspaces while the batch of one waits', async () => {
    const apart = await recorderApart();
    const other = await subscribe(host, 'https://127.0.0.1:9999/');
    const [locked] = await attempted(1);
    const [free] = await attempted(1, other);
    const locker = new Client({ connectionString: stores.databaseUrl });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      await lockDelivery(locker, locked!);
      const stuck = apart.record(locked!);
      await waitForLockWait(host, 'the record');
      await apart.record(free!);
      expect(await hasLockWait(host)).toBe(true);
      await locker.query('COMMIT');
      await stuck;
    } finally {
      await locker.end();
    }
    expect(await statusOf(locked!)).toBe('EXHAUSTED');
    expect(await statusOf(free!, other)).toBe('EXHAUSTED');
  });

  it('keeps the workspaces apart without batches across them: the failure of one rejects no other', async () => {
    const apart = await recorderApart();
    const others = [
      await subscribe(host, 'https://127.0.0.1:9999/'),
      await subscribe(host, 'https://127.0.0.1:9999/'),
    ];
    const [first] = await attempted(1);
    const [bad] = await attempted(1, others[0]);
    const [last] = await attempted(1, others[1]);
    const records = [first!, unwritable(bad!), last!];
    const outcomes = await Promise.allSettled(records.map((record) => apart.record(record)));
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: first },
      { status: 'rejected' },
      { status: 'fulfilled', value: last },
    ]);
    expect(await statusOf(last!, others[1])).toBe('EXHAUSTED');
  });

  it('has a retry cancelled that is recorded long after its endpoint was deactivated', async () => {
    const { id: tenantId, endpoint } = subscription;
    await subscription.message();
    const leaseId = newId();
    const [event] = await host
      .get(Database)
      .queueTransaction((tx) => host.get(EventQueueRepository).claim(tx, new Map([[tenantId, 1]]), leaseId));
    const claimed = { ...NOT_ATTEMPTED, id: newId(), event: event!, leaseId };
    const record = recordOf(subscription, claimed, 'PENDING');
    record.delivery.lease!.on = 'event';
    record.outcome!.at = new Date(Date.now() - 60_000);
    await host.get(WebhookEndpointsService).deactivate(tenantId, endpoint.id, SYSTEM);
    // Whoever cancels the endpoint's deliveries has found the last one a minute later.
    await host.query('DELETE FROM pending_cancellations WHERE tenant_id = $1', [tenantId]);

    recorder.expectAttempts([record.delivery]);
    await recorder.record(record);
    const servers = await host.get(Database).placement.listServers();
    const found = await Promise.all(
      servers.map((server) =>
        host.get(PendingCancellationsRepository).find(BEFORE_ALL_CANCELLATIONS, server),
      ),
    );
    const items = found.flatMap((step) => step.items);
    expect(items).toEqual([{ tenantId, endpointId: endpoint.id, activation: 1 }]);
  });
});
