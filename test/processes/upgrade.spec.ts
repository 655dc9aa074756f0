import axios from 'axios';
import { Client } from 'pg';
import { MigrationInterface, QueryRunner } from 'typeorm';
import { ComposedNames1795435200012 } from '../../migrations/1795435200012-composed-names';
import { createIndexConcurrently } from '../../migrations/support/concurrent-index';
import { SYSTEM } from '../../src/common/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { migrate } from '../../src/database/migrator';
import { PartitionChanges } from '../../src/database/partition-changes';
import { Partitions } from '../../src/database/partitions';
import { MessagingHost } from '../support/messaging-host';
import { ownerConfig, ownerDatabase } from '../support/owner-database';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { letTimePass, waitFor } from '../support/wait';
import { subscribe } from '../support/webhook-workspace';

const CALLERS = 4;
/**
 * Time of a read that holds a lock longer than a migration waits for it, and longer than the service's own
 * statements do.
 */
const LONG_READ_MS = 3_000;

/** Migration that adds what a later version needs, and removes nothing. */
class Additions1899999999000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages ADD COLUMN note text');
    await db.query('ALTER TABLE events ADD COLUMN note text');
    await db.query(
      'CREATE TABLE jottings (tenant_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (tenant_id, id))',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE jottings');
    await db.query('ALTER TABLE events DROP COLUMN note');
    await db.query('ALTER TABLE messages DROP COLUMN note');
  }
}

class Indexes1899999999001 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    const definition = '(tenant_id, created_at)';
    await createIndexConcurrently(db, { name: 'messages_note_idx', table: 'messages', definition });
    await createIndexConcurrently(db, { name: 'events_note_idx', table: 'events', definition });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_note_idx');
    await db.query('DROP INDEX events_note_idx');
  }
}

const MIGRATIONS = [Additions1899999999000, Indexes1899999999001];
const NAMES = MIGRATIONS.map(({ name }) => name);

describe('an upgrade of the database', () => {
  let host: MessagingHost;

  beforeEach(async () => {
    host = await MessagingHost.create();
  });
  afterEach(async () => {
    await ServiceProcess.killAll();
    await host.close();
  });

  const upgrade = (
    direction: 'up' | 'down' = 'up',
    migrations: (new () => MigrationInterface)[] = MIGRATIONS,
  ) => migrate(ownerConfig(host), direction, migrations);

  const invalidIndexes = () =>
    host.query('SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid');

  /** Reads for a long time, as a backup does. */
  async function readFor(ms: number): Promise<void> {
    const reader = new Client({ connectionString: host.stores.databaseUrl });
    await reader.connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query('SELECT count(*) FROM messages');
    await letTimePass(ms);
    await reader.query('COMMIT');
    await reader.end();
  }

  it('fails no request and loses no webhook, with old and new processes side by side', async () => {
    const receiver = await Receiver.start();
    const subscription = await subscribe(host, receiver, { events: ['message.created'] });
    const { key } = await host.make.apiKey(subscription.workspace);
    const [oldApi, oldWorker] = await Promise.all([
      ServiceProcess.start('api', host.stores),
      ServiceProcess.start('worker', host.stores),
    ]);
    let apis = [oldApi];
    let isOver = false;
    const statuses: number[] = [];
    const ids: string[] = [];
    const call = async () => {
      while (!isOver) {
        const api = apis[statuses.length % apis.length]!;
        const answer = await axios.post(
          `${api.url}/api/v1/conversations/${subscription.conversation.id}/messages`,
          { body: `Message ${statuses.length}` },
          { headers: { 'x-api-key': key }, proxy: false, validateStatus: null },
        );
        statuses.push(answer.status);
        if (answer.status === 201) ids.push(answer.data.message.id);
      }
    };
    await host.query('UPDATE workspaces SET rate_limit = 1000000');
    const callers = Array.from({ length: CALLERS }, call);
    await receiver.waitForCount(5, subscription.path);

    const reading = readFor(LONG_READ_MS);
    expect(await upgrade()).toEqual(NAMES);
    await reading;
    const [newApi, newWorker] = await Promise.all([
      ServiceProcess.start('api', host.stores),
      ServiceProcess.start('worker', host.stores),
    ]);
    apis = [oldApi, newApi];
    const before = statuses.length;
    await waitFor('requests to both', () => statuses.length > before + 20);
    apis = [newApi];
    const between = statuses.length;
    await waitFor('requests to the new one alone', () => statuses.length > between + 2 * CALLERS);
    for (const old of [oldApi, oldWorker]) old.kill('SIGTERM');
    expect(await Promise.all([oldApi.exited, oldWorker.exited])).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
    const after = statuses.length;
    await waitFor('requests after that', () => statuses.length > after + 20);
    isOver = true;
    await Promise.all(callers);

    expect(new Set(statuses)).toEqual(new Set([201]));
    const received = () =>
      new Set(receiver.received(subscription.path).map(({ envelope }) => envelope.data.message.id as string));
    await waitFor('every webhook', () => received().size === ids.length, 30_000);
    expect(received()).toEqual(new Set(ids));
    expect(await invalidIndexes()).toEqual([]);
    for (const one of [newApi, newWorker]) one.kill('SIGTERM');
    await Promise.all([newApi.exited, newWorker.exited]);
    await receiver.stop();
  }, 120_000);

  it('makes concurrent indexes, two at once or again after a failure, and takes them back', async () => {
    const [first, second] = await Promise.all([upgrade(), upgrade()]);
    expect([...first, ...second]).toEqual(NAMES);
    expect(await invalidIndexes()).toEqual([]);
    const partitions = host.get(Partitions);
    const today = await partitions.readToday();
    const owner = ownerDatabase(host);
    const changes = new PartitionChanges(owner);
    expect(await changes.create('events', today + 30)).toBe('done');
    expect(await changes.attach('events', today + 30)).toBe('done');
    await owner.onApplicationShutdown();
    expect(await invalidIndexes()).toEqual([]);

    expect(await upgrade('down')).toEqual(NAMES.slice(1));
    // A migration that was killed in the middle leaves this state.
    await host.query('CREATE INDEX events_note_idx ON ONLY events (tenant_id, created_at)');
    await host.query('CREATE INDEX messages_note_idx ON messages (tenant_id, created_at)');
    await host.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'messages_note_idx'::regclass`,
    );
    expect(await invalidIndexes()).toHaveLength(2);
    expect(await upgrade()).toEqual(NAMES.slice(1));
    expect(await invalidIndexes()).toEqual([]);
  });

  it('finds contacts by names that were stored in decomposed characters', async () => {
    const { id } = await host.make.workspace();
    // More contacts than the migration reads at once.
    await host.query(
      `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at)
       SELECT $1, gen_random_uuid(), CASE WHEN i % 9000 = 0 THEN normalize('Zoë', NFD) ELSE 'Ana' END, now(), now()
       FROM generate_series(1, 18000) i`,
      [id],
    );
    const find = () => host.get(ContactsService).list(id, { q: 'zoë' }, SYSTEM);
    expect((await find()).data).toEqual([]);
    await host.query('DELETE FROM migrations WHERE name = $1', [ComposedNames1795435200012.name]);
    expect(await upgrade('up', [ComposedNames1795435200012])).toEqual([ComposedNames1795435200012.name]);
    expect((await find()).data.map(({ name }) => name)).toEqual(['Zoë', 'Zoë']);
  });

  it('refuses a database of a pre-release version, and changes nothing', async () => {
    await host.query(
      `INSERT INTO migrations (timestamp, name) VALUES (1795305600003, 'Webhooks1795305600003')`,
    );
    const before = await host.query('SELECT * FROM migrations ORDER BY id');
    for (const direction of ['up', 'down'] as const)
      await expect(upgrade(direction)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringMatching(/pre-release version.*Nothing was changed/),
      });
    expect(await host.query('SELECT * FROM migrations ORDER BY id')).toEqual(before);
    expect(await host.query(`SELECT to_regclass('jottings') AS name`)).toEqual([{ name: null }]);
  });
});
