import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { Partitions } from '../../src/database/history/partitions';
import { SYSTEM } from '../../src/access/principal';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { RetentionService } from '../../src/operations/retention/retention.service';
import { TableRegistry } from '../../src/database/tables/table-registry';
import { TableRowsRepository } from '../../src/database/tables/table-rows.repository';
import { MessagingHost } from '../support/messaging-host';
import { waitForLockWait } from '../support/lock-waits';
import { Logins } from '../support/logins';
import { waitFor } from '../support/wait';
import { subscribe, Subscription } from '../support/webhook-workspace';
import { stopAll } from '../support/stop-at-end';

/** Number of rows that takes more than one batch of 2,000. */
const MANY = 4_500;

describe('retention', () => {
  let host: MessagingHost;
  let subscription: Subscription;

  beforeEach(async () => {
    host = await MessagingHost.create();
    subscription = await subscribe(host, 'https://127.0.0.1:9999/');
  });
  afterEach(stopAll);

  const service = (retentionDays = 30) => {
    const config = { ...host.app.get<Config>(Config, { strict: false }), retentionDays };
    return new RetentionService(
      config,
      host.get(Database),
      host.get(TableRegistry),
      host.get(TableRowsRepository),
      host.get(Partitions),
    );
  };

  async function count(table: string): Promise<number> {
    const [row] = await host.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return row!.count;
  }

  it('removes nothing that is young', async () => {
    expect(await service().clean()).toEqual({
      webhook_endpoints: 0,
      idempotency_keys: 0,
      alerts: 0,
      drafts: 0,
      provider_messages: 0,
      early_receipts: 0,
      early_changes: 0,
      attachment_fetches: 0,
      answer_notices: 0,
      agent_notices: 0,
      provider_files: 0,
      invitations: 0,
      login_sessions: 0,
      pending_logins: 0,
      known_browsers: 0,
      password_resets: 0,
      people: 0,
      attempt_rollups: 0,
      queue_floors: 0,
    });
  });

  it('removes what logins leave behind, and nothing that still counts', async () => {
    const logins = new Logins(host);
    const workspace = subscription.workspace;
    const [left, kept] = [await logins.member(workspace), await logins.member(workspace)];
    const expired = await logins.session(kept);
    const secured = await logins.secure(kept);
    await logins.logIn(secured);
    await logins.logIn(secured);
    await logins.invite(workspace, await host.make.agent(workspace));
    await logins.invite(workspace, await host.make.agent(workspace));
    for (let n = 0; n < 2; n++)
      await host.get(PasswordsService).sendReset(workspace.id, kept.agent.id, SYSTEM);
    const expireOne = (table: string, key: string) =>
      host.query(
        `UPDATE ${table} SET expires_at = now() - interval '1 second'
         WHERE ${key} = (SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1)`,
      );
    // The person's other session ended with the second factor.
    expect(await logins.isOpen(expired.token)).toBe(false);
    for (const [table, key] of [
      ['login_sessions', 'id'],
      ['invitations', 'id'],
      ['known_browsers', 'id'],
      ['pending_logins', 'hash'],
      ['password_resets', 'hash'],
    ])
      await expireOne(table!, key!);
    // Both people are old; one has no workspace any more.
    await host.query(`UPDATE people SET created_at = now() - interval '31 days'`);
    await host.query('DELETE FROM memberships WHERE tenant_id = $1 AND agent_id = $2', [
      workspace.id,
      left.agent.id,
    ]);
    await host.query('DELETE FROM person_workspaces WHERE person_id = $1', [left.personId]);

    expect(await service().clean()).toMatchObject({
      login_sessions: 1,
      invitations: 1,
      known_browsers: 1,
      pending_logins: 1,
      password_resets: 1,
      people: 1,
    });
    expect(await host.query('SELECT id FROM people')).toEqual([{ id: kept.personId }]);
    expect(await count('login_sessions')).toBe(1);
    expect(await logins.isOpen(secured.token)).toBe(true);
    expect(await count('pending_logins')).toBe(1);
    expect(await count('invitations')).toBe(1);
  });

  it('removes alerts that were resolved 90 days ago, and no open one', async () => {
    const insert = (resolved: string | null) =>
      host.query(
        `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at, resolved_at)
         VALUES ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now() - interval '200 days', now() - $2::interval)`,
        [subscription.id, resolved],
      );
    for (const resolved of [null, '91 days', '89 days']) await insert(resolved);
    expect(await service().clean()).toMatchObject({ alerts: 1 });
    expect(await host.query('SELECT resolved_at IS NULL AS open FROM alerts ORDER BY open')).toEqual([
      { open: false },
      { open: true },
    ]);
  });

  const deletedSince = (age: string) =>
    host.query(
      'UPDATE webhook_endpoints SET active = false, deleted_at = now() - $2::interval WHERE id = $1',
      [subscription.endpoint.id, age],
    );

  it('removes an endpoint when it was deleted on a day whose partitions are gone', async () => {
    await deletedSince('29 days');
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
    await deletedSince('31 days');
    expect(await service(31).clean()).toMatchObject({ webhook_endpoints: 0 });
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 1 });
  });

  it.each([
    [
      'a delivery of it is pending',
      `INSERT INTO pending_deliveries VALUES ($1, $2, $2, 1, $2, 'message.created', 1, 0, false, now())`,
      'pending_deliveries',
    ],
    [
      'its deliveries are being cancelled',
      'INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation) VALUES ($1, $2, 1)',
      'pending_cancellations',
    ],
  ])('keeps a deleted endpoint while %s', async (_, insert, table) => {
    await deletedSince('90 days');
    await host.query(insert, [subscription.workspace.id, subscription.endpoint.id]);
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
    await host.query(`DELETE FROM ${table}`);
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 1 });
  });

  it('keeps endpoints that are not deleted, active or not, however old', async () => {
    await host.query(`UPDATE webhook_endpoints SET created_at = now() - interval '9 years', active = false`);
    expect(await service().clean()).toMatchObject({ webhook_endpoints: 0 });
  });

  it('removes idempotency keys after 24 hours', async () => {
    await host.query(
      `INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_at) SELECT $1, age, '\\x00', now() - age::interval
       FROM unnest('{23 hours 59 minutes,24 hours 1 minute,3 days}'::text[]) age`,
      [subscription.workspace.id],
    );
    expect(await service().clean()).toMatchObject({ idempotency_keys: 2 });
    expect(await host.query('SELECT key FROM idempotency_keys')).toEqual([{ key: '23 hours 59 minutes' }]);
  });

  describe('of what providers call messages', () => {
    let connectionId: string;
    let message: { id: string };

    beforeEach(async () => {
      const { workspace, conversation } = subscription;
      connectionId = newId();
      message = await host.make.sent(workspace, conversation);
      await host.query(
        `INSERT INTO channel_connections VALUES
           ($2, $1, 'TELEGRAM', '1', 'hook', '{}', 'test', '\\x00', NULL, 'ACTIVE', NULL, now(), now())`,
        [connectionId, workspace.id],
      );
    });

    const remember = (ages: string[]) =>
      host.query(
        `INSERT INTO provider_messages
         SELECT $2, $1, age, $3, $4, now(), now() - age::interval FROM unnest($5::text[]) age`,
        [connectionId, subscription.workspace.id, subscription.conversation.id, message.id, ages],
      );

    it('removes it after 30 days when its message is erased, and keeps it with any other', async () => {
      await remember(['29 days 23 hours', '30 days 1 hour', '31 days', '400 days']);
      const erase = (age: string) =>
        host.query(
          `UPDATE provider_messages SET provider_id = 'erased:' || provider_id WHERE provider_id = $1`,
          [age],
        );
      for (const age of ['29 days 23 hours', '30 days 1 hour', '31 days']) await erase(age);
      expect(await service().clean()).toMatchObject({ provider_messages: 2 });
      expect(await host.query('SELECT provider_id FROM provider_messages ORDER BY 1')).toEqual([
        { provider_id: '400 days' },
        { provider_id: 'erased:29 days 23 hours' },
      ]);
    });

    it('keeps it while its message is not through', async () => {
      await remember(['31 days']);
      await host.query(`UPDATE provider_messages SET provider_id = 'erased:1'`);
      await host.query(
        `INSERT INTO outbound_messages
           (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
         VALUES ($1, $2, $3, $4, now())`,
        [subscription.workspace.id, subscription.conversation.id, message.id, connectionId],
      );
      expect(await service().clean()).toMatchObject({ provider_messages: 0 });
    });

    it('removes receipts of messages that never became known after 24 hours', async () => {
      await host.query(
        `INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, error, created_at)
         SELECT $2, $1, age, 'SENT', NULL, now() - age::interval
         FROM unnest('{23 hours 59 minutes,24 hours 1 minute,3 days}'::text[]) age`,
        [connectionId, subscription.workspace.id],
      );
      expect(await service().clean()).toMatchObject({ early_receipts: 2 });
    });

    it('removes changes whose message or customer never became known after 30 days', async () => {
      await host.query(
        `INSERT INTO early_changes (tenant_id, connection_id, provider_id, body, created_at)
         SELECT $2, $1, age, 'corrected', now() - age::interval
         FROM unnest('{29 days 23 hours,30 days 1 hour,31 days}'::text[]) age`,
        [connectionId, subscription.workspace.id],
      );
      expect(await service().clean()).toMatchObject({ early_changes: 2 });
    });
  });

  it('keeps the audit log for ever', async () => {
    const before = await count('audit_entries');
    await host.query(`UPDATE audit_entries SET created_at = now() - interval '9 years'`);
    await service().clean();
    expect(before).toBeGreaterThan(0);
    expect(await count('audit_entries')).toBe(before);
  });

  describe('of many rows', () => {
    beforeEach(async () => {
      await host.query(
        `INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_at)
         SELECT $1, 'old-' || n, '\\x00', now() - interval '2 days' - n * interval '1 second'
         FROM generate_series(1, $2::integer) AS n`,
        [subscription.workspace.id, MANY],
      );
      await host.query(
        `INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_at)
         SELECT $1, 'new-' || n, '\\x00', now() FROM generate_series(1, 10) AS n`,
        [subscription.workspace.id],
      );
    });

    it('works through them in batches', async () => {
      expect(await service().clean()).toMatchObject({ idempotency_keys: MANY });
      expect(await count('idempotency_keys')).toBe(10);
    });

    it('can be stopped, and goes on from there the next time', async () => {
      // The second batch waits for this row; the first is deleted by then.
      const lock = new Client({ connectionString: host.stores.databaseUrl });
      await lock.connect();
      await lock.query('BEGIN');
      await lock.query(
        'SELECT FROM idempotency_keys WHERE tenant_id = $1 ORDER BY created_at OFFSET 3000 LIMIT 1 FOR UPDATE',
        [subscription.workspace.id],
      );
      const stop = new AbortController();
      const run = service().clean(stop.signal);
      await waitForLockWait(host, 'the second batch');
      stop.abort();
      await lock.end();
      const { idempotency_keys: removed = 0 } = await run;

      expect(removed).toBeGreaterThan(0);
      expect(removed).toBeLessThan(MANY);
      expect(await count('idempotency_keys')).toBe(MANY + 10 - removed);
      expect(await service().clean()).toMatchObject({ idempotency_keys: MANY - removed });
    });

    it('makes a batch smaller that has failed, so that it deletes all but what can not be deleted', async () => {
      await host.query(`
        CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF (SELECT count(*) FROM old) > 500 THEN RAISE EXCEPTION 'too many'; END IF;
          RETURN NULL;
        END $$`);
      await host.query(`
        CREATE TRIGGER refuse_many AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS old
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`);
      expect(await service().clean()).toMatchObject({ idempotency_keys: MANY });
    });

    it('cleans the other tables when one fails', async () => {
      await deletedSince('90 days');
      await host.query('ALTER TABLE webhook_endpoints RENAME COLUMN deleted_at TO gone_at');
      expect(await service().clean()).toMatchObject({ webhook_endpoints: 0, idempotency_keys: MANY });
      await host.query('ALTER TABLE webhook_endpoints RENAME COLUMN gone_at TO deleted_at');
      expect(await service().clean()).toMatchObject({ webhook_endpoints: 1 });
    });

    it('looks at no row twice, nor at young ones', async () => {
      await host.query('ANALYZE idempotency_keys');
      await service().clean();
      const [{ read }] = await waitFor('the statistics', async () => {
        const rows = await host.query<{ read: number }>(
          `SELECT idx_tup_read::integer AS read FROM pg_stat_user_indexes WHERE indexrelname = 'idempotency_keys_created_idx'`,
        );
        return (rows[0]?.read ?? 0) >= MANY && (rows as [{ read: number }]);
      });
      // The count includes the last row of each batch, where the next one begins.
      expect(read).toBeLessThanOrEqual(MANY + 10);
    });
  });
});
