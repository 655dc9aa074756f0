import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { RetentionService } from '../../src/retention/retention.service';
import { Dashboard } from '../support/dashboard';
import { waitForLockWait } from '../support/lock-waits';
import { subscribe, Subscription } from '../support/webhook-workspace';

/** More than one batch of 2,000. */
const MANY = 4_500;

describe('retention', () => {
  let dashboard: Dashboard;
  let subscription: Subscription;

  beforeEach(async () => {
    dashboard = await Dashboard.create();
    subscription = await subscribe(dashboard, 'https://127.0.0.1:9999/');
    await dashboard.query('UPDATE events SET relayed_at = now()');
  });
  afterEach(() => dashboard.close());

  const service = (retentionDays = 30) => {
    const config = { ...dashboard.app.get<Config>(Config, { strict: false }), retentionDays };
    return new RetentionService(config, dashboard.get(Database));
  };

  /** Deliveries with an event and an attempt each, all of one age. */
  async function deliver(count: number, age: string, status: string, endpointId = subscription.endpoint.id) {
    await dashboard.query(
      `WITH event AS (
         INSERT INTO events SELECT $1, gen_random_uuid(), 'message.created', '{}', now() - $3::interval, now()
         FROM generate_series(1, $2) RETURNING id
       ), delivery AS (
         INSERT INTO webhook_deliveries
         SELECT $1, id, $5, id, 'message.created', $4, 1, 6, now(), NULL, NULL, now() - $3::interval,
           CASE WHEN $4 <> 'PENDING' THEN now() END
         FROM event RETURNING id
       )
       INSERT INTO webhook_attempts
       SELECT $1, id, gen_random_uuid(), now() - $3::interval, 5, 200, NULL, NULL, 'ok' FROM delivery`,
      [subscription.workspace.id, count, age, status, endpointId],
    );
  }

  async function count(table: string): Promise<number> {
    const [row] = await dashboard.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return row!.count;
  }

  it('removes finished deliveries with their attempts and events after 30 days', async () => {
    for (const status of ['SUCCEEDED', 'EXHAUSTED', 'CANCELLED']) await deliver(2, '30 days 1 hour', status);

    expect(await service().clean()).toMatchObject({ webhook_deliveries: 6, events: 6 });

    expect(await count('webhook_deliveries')).toBe(0);
    expect(await count('webhook_attempts')).toBe(0);
    expect(await count(`events WHERE type = 'message.created'`)).toBe(0);
  });

  it('keeps what is younger', async () => {
    await deliver(3, '29 days 23 hours', 'SUCCEEDED');
    expect(await service().clean()).toEqual({
      webhook_deliveries: 0,
      events: 0,
      webhook_endpoints: 0,
      idempotency_keys: 0,
      provider_messages: 0,
      early_receipts: 0,
    });
    expect(await count('webhook_attempts')).toBe(3);
  });

  it('keeps it for as many days as the operator says', async () => {
    await deliver(2, '8 days', 'SUCCEEDED');
    await deliver(3, '6 days', 'SUCCEEDED');
    expect(await service(7).clean()).toMatchObject({ webhook_deliveries: 2, events: 2 });
    expect(await count('webhook_attempts')).toBe(3);
  });

  it('keeps what is pending, and the events of that, however old', async () => {
    await deliver(3, '90 days', 'PENDING');
    expect(await service().clean()).toMatchObject({ webhook_deliveries: 0, events: 0 });
    expect(await count('webhook_attempts')).toBe(3);
  });

  it('keeps events that are not relayed, however old', async () => {
    await dashboard.query(
      `INSERT INTO events VALUES ($1, gen_random_uuid(), 'message.created', '{}', now() - interval '90 days', NULL)`,
      [subscription.workspace.id],
    );
    expect(await service().clean()).toMatchObject({ events: 0 });
  });

  it('removes events that nobody wanted', async () => {
    await dashboard.query(
      `INSERT INTO events VALUES ($1, gen_random_uuid(), 'message.created', '{}', now() - interval '31 days', now())`,
      [subscription.workspace.id],
    );
    expect(await service().clean()).toMatchObject({ events: 1 });
  });

  it('removes an endpoint 30 days after its deletion, once nothing is kept of it', async () => {
    const { id } = subscription.endpoint;
    await deliver(1, '1 day', 'SUCCEEDED');
    const deletedSince = (age: string) =>
      dashboard.query(
        'UPDATE webhook_endpoints SET active = false, deleted_at = now() - $2::interval WHERE id = $1',
        [id, age],
      );

    await deletedSince('29 days');
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
    await deletedSince('31 days');
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
    await dashboard.query(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days'`);
    expect(await service().clean()).toMatchObject({ webhook_deliveries: 1, webhook_endpoints: 1 });
  });

  it('keeps endpoints that are not deleted, active or not, however old', async () => {
    await dashboard.query(
      `UPDATE webhook_endpoints SET created_at = now() - interval '9 years', active = false`,
    );
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
  });

  it('removes idempotency keys after 24 hours', async () => {
    await dashboard.query(
      `INSERT INTO idempotency_keys SELECT $1, age, '\\x00', NULL, now() - age::interval
       FROM unnest('{23 hours 59 minutes,24 hours 1 minute,3 days}'::text[]) age`,
      [subscription.workspace.id],
    );
    expect(await service().clean()).toMatchObject({ idempotency_keys: 2 });
    expect(await dashboard.query('SELECT key FROM idempotency_keys')).toEqual([
      { key: '23 hours 59 minutes' },
    ]);
  });

  describe('of what providers call messages', () => {
    let connectionId: string;
    let message: { id: string };

    beforeEach(async () => {
      const { workspace, conversation } = subscription;
      connectionId = newId();
      message = await dashboard.make.sent(workspace, conversation);
      await dashboard.query(
        `INSERT INTO channel_connections VALUES
           ($2, $1, 'TELEGRAM', '1', 'hook', '{}', 'test', '\\x00', NULL, 'ACTIVE', NULL, now(), now())`,
        [connectionId, workspace.id],
      );
    });

    const remember = (ages: string[]) =>
      dashboard.query(
        `INSERT INTO provider_messages
         SELECT $2, $1, age, $3, $4, now(), now() - age::interval FROM unnest($5::text[]) age`,
        [connectionId, subscription.workspace.id, subscription.conversation.id, message.id, ages],
      );

    it('removes it after 30 days', async () => {
      await remember(['29 days 23 hours', '30 days 1 hour', '31 days']);
      expect(await service().clean()).toMatchObject({ provider_messages: 2 });
      expect(await dashboard.query('SELECT provider_id FROM provider_messages')).toEqual([
        { provider_id: '29 days 23 hours' },
      ]);
    });

    it('keeps it while its message is not through', async () => {
      await remember(['31 days']);
      await dashboard.query(
        `INSERT INTO message_dispatches
           (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
         VALUES ($1, $2, $3, $4, now())`,
        [subscription.workspace.id, subscription.conversation.id, message.id, connectionId],
      );
      expect(await service().clean()).toMatchObject({ provider_messages: 0 });
    });

    it('removes receipts of messages that never became known after 24 hours', async () => {
      await dashboard.query(
        `INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, error, created_at)
         SELECT $2, $1, age, 'SENT', NULL, now() - age::interval
         FROM unnest('{23 hours 59 minutes,24 hours 1 minute,3 days}'::text[]) age`,
        [connectionId, subscription.workspace.id],
      );
      expect(await service().clean()).toMatchObject({ early_receipts: 2 });
    });
  });

  it('keeps the audit log for ever', async () => {
    const before = await count('audit_entries');
    await dashboard.query(`UPDATE audit_entries SET created_at = now() - interval '9 years'`);
    await service().clean();
    expect(before).toBeGreaterThan(0);
    expect(await count('audit_entries')).toBe(before);
  });

  it('works through any number of rows in batches', async () => {
    await deliver(MANY, '31 days', 'SUCCEEDED');
    await deliver(10, '1 day', 'SUCCEEDED');
    expect(await service().clean()).toMatchObject({ webhook_deliveries: MANY, events: MANY });
    expect(await count('webhook_deliveries')).toBe(10);
  });

  it('can be stopped, and goes on from there the next time', async () => {
    await deliver(MANY, '31 days', 'SUCCEEDED');
    // The second batch waits for this row; by then the first is gone.
    const lock = new Client({ connectionString: dashboard.stores.databaseUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM webhook_deliveries OFFSET 3000 LIMIT 1 FOR UPDATE');
    const stop = new AbortController();
    const run = service().clean(stop.signal);
    await waitForLockWait(dashboard, 'the second batch');
    stop.abort();
    await lock.end();
    const { webhook_deliveries: removed } = await run;

    expect(removed).toBeGreaterThan(0);
    expect(removed).toBeLessThan(MANY);
    expect(await count('webhook_deliveries')).toBe(MANY - removed);
    expect(await service().clean()).toMatchObject({ webhook_deliveries: MANY - removed, events: MANY });
  });
});
