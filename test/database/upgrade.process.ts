import axios from 'axios';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { MigrationInterface, QueryRunner } from 'typeorm';
import { ComposedNames1795435200012 } from '../../migrations/1795435200012-composed-names';
import { FoldedTexts1795801000000 } from '../../migrations/1795801000000-folded-texts';
import { RefoldedTexts1795807000000 } from '../../migrations/1795807000000-refolded-texts';
import { LookUps1795486100000 } from '../../migrations/1795486100000-look-ups';
import { ProviderForms1795804000000 } from '../../migrations/1795804000000-provider-forms';
import { WaitingMessages1796004000000 } from '../../migrations/1796004000000-waiting-messages';
import { createIndexConcurrently } from '../../migrations/support/concurrent-index';
import { SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { Database } from '../../src/database/database';
import { migrate } from '../../src/database/setup/migrator';
import { PartitionChanges } from '../../src/database/history/partition-changes';
import { MessageChanges } from '../../src/messages/message-changes';
import { Partitions } from '../../src/database/history/partitions';
import { MessagingHost } from '../support/messaging-host';
import { ownerConfig, ownerDatabase } from '../support/owner-database';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { stopAll } from '../support/stop-at-end';
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

const LOOK_UPS = [
  'workspace_slugs',
  'api_key_hashes',
  'hook_keys',
  'connected_accounts',
  'person_workspaces',
];

const MIGRATIONS = [Additions1899999999000, Indexes1899999999001];
const NAMES = MIGRATIONS.map(({ name }) => name);

describe('an upgrade of the database', () => {
  let host: MessagingHost;

  beforeEach(async () => {
    host = await MessagingHost.create();
  });
  afterEach(stopAll);

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

  it('finds contacts that a former version stored, also in decomposed characters', async () => {
    const { id } = await host.make.workspace();
    // More contacts than the migration reads at once.
    await host.query(
      `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at)
       SELECT $1, gen_random_uuid(), CASE WHEN i % 9000 = 0 THEN normalize('Zoë', NFD) ELSE 'Ana' END, now(), now()
       FROM generate_series(1, 18000) i`,
      [id],
    );
    const find = () => host.get(ContactsService).list(id, { q: 'ZOE' }, SYSTEM);
    expect((await find()).data).toEqual([]);
    const migrations = [ComposedNames1795435200012, FoldedTexts1795801000000, RefoldedTexts1795807000000];
    const names = migrations.map(({ name }) => name);
    await host.query('DELETE FROM migrations WHERE name = ANY ($1)', [names]);
    expect(await upgrade('up', migrations)).toEqual(names);
    expect((await find()).data.map(({ name }) => name)).toEqual(['Zoë', 'Zoë']);
  });

  it('brings ids that a former version stored as callers wrote them to the form of providers', async () => {
    const { id } = await host.make.workspace();
    const ids = [
      ['WHATSAPP', '+34 600 11 22 33', '34600112233'],
      ['WHATSAPP', '+34600112244', '+34600112244'],
      ['WHATSAPP', '34600112244', '34600112244'],
      ['WHATSAPP', 'ES.111', 'ES.111'],
      ['WHATSAPP', '600112233 ext. 4', '600112233 ext. 4'],
      ['TELEGRAM', '\u200e5512345', '5512345'],
      ['WIDGET', 'user:+34600112233', 'user:+34600112233'],
    ];
    const given = ids.map(([channel, externalId]) => ({ channel, externalId }));
    // Each id is another contact's, who has a conversation, and a thousand others come before.
    await host.query(
      `WITH added AS (
         INSERT INTO contacts (tenant_id, id, created_at, updated_at)
         SELECT $1, gen_random_uuid(), now(), now() FROM generate_series(1, 1007) RETURNING id),
       numbered AS (SELECT id, row_number() OVER () AS n FROM added),
       named AS (
         SELECT a.id, coalesce(g."channel", 'INSTAGRAM') AS channel, coalesce(g."externalId", a.n::text) AS name
         FROM numbered a LEFT JOIN (
           SELECT row_number() OVER () AS n, * FROM json_to_recordset($2) AS g ("channel" text, "externalId" text)) g
         USING (n)),
       talking AS (
         INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, identity_external_id, created_at, updated_at)
         SELECT $1, gen_random_uuid(), id, channel, 'OPEN', name, now(), now() FROM named)
       INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
       SELECT $1, channel, name, id, now() FROM named`,
      [id, JSON.stringify(given)],
    );
    const { name } = ProviderForms1795804000000;
    await host.query('DELETE FROM migrations WHERE name = $1', [name]);
    expect(await upgrade('up', [ProviderForms1795804000000])).toEqual([name]);
    const stored = await host.query<{ channel: string; id: string; answersGoTo: string }>(
      `SELECT i.channel, i.external_id AS id, c.identity_external_id AS "answersGoTo"
       FROM contact_identities i JOIN conversations c USING (tenant_id, contact_id)
       WHERE tenant_id = $1 AND i.channel <> 'INSTAGRAM'`,
      [id],
    );
    const found = stored.map(({ channel, id, answersGoTo }) => [channel, id, answersGoTo]);
    expect(found.sort()).toEqual(ids.map(([channel, , form]) => [channel, form, form]).sort());
  });

  it('lets the customers wait whose messages a former version stored and nobody has answered', async () => {
    const workspaces = [await host.make.workspace(), await host.make.workspace()];
    const waits = new Map<string, string | null>();
    /** Adds a conversation, with the message that must wait after the migration. */
    const add = async (own: { id: string }, talk: (id: string) => Promise<string | null>) => {
      const { id } = await host.make.conversation(own);
      waits.set(id, await talk(id));
    };
    for (const own of workspaces) {
      await host.make.agent(own);
      const receive = async (id: string) => (await host.make.received(own, { id })).id;
      const answer = async (id: string) => (await host.make.sent(own, { id })).id;
      const change = (id: string, status: 'CLOSED' | 'SNOOZED' | 'OPEN') =>
        host.make.updateConversation(own, { id }, { status });
      const unsend = (id: string, messageId: string) =>
        host
          .get(Database)
          .transaction((tx) =>
            host.get(MessageChanges).unsend(tx, { tenantId: own.id, conversationId: id, messageId }),
          );
      await add(own, () => Promise.resolve(null));
      await add(own, receive);
      await add(own, async (id) => {
        const first = await receive(id);
        await receive(id);
        return first;
      });
      await add(own, async (id) => {
        await receive(id);
        await answer(id);
        return null;
      });
      await add(own, async (id) => {
        await receive(id);
        await answer(id);
        const next = await receive(id);
        await receive(id);
        return next;
      });
      await add(own, async (id) => {
        await answer(id);
        return null;
      });
      await add(own, async (id) => {
        const first = await receive(id);
        const second = await receive(id);
        await unsend(id, first);
        return second;
      });
      for (const status of ['CLOSED', 'SNOOZED'] as const)
        await add(own, async (id) => {
          await receive(id);
          await change(id, status);
          return null;
        });
    }
    // More conversations than the migration reads at once come first.
    await host.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
       SELECT tenant_id, (lpad(to_hex(i), 8, '0') || '00007000800000000000' || right(tenant_id::text, 4))::uuid, contact_id,
         'WIDGET', 'OPEN', now(), now()
       FROM (SELECT DISTINCT ON (tenant_id) tenant_id, contact_id FROM conversations) AS own, generate_series(1, 2500) i`,
    );
    const name = WaitingMessages1796004000000.name;
    const stored = async () => {
      const rows = await host.query<{ id: string; waits: string | null }>(
        'SELECT id, waiting_message_id AS waits FROM conversations WHERE id = ANY ($1)',
        [[...waits.keys()]],
      );
      return new Map(rows.map((row) => [row.id, row.waits]));
    };
    // The service has written the same itself.
    expect(await stored()).toEqual(waits);
    await host.query('DELETE FROM migrations WHERE name = $1', [name]);
    await host.query('ALTER TABLE conversations DROP COLUMN waiting_message_id');
    expect(await upgrade('up', [WaitingMessages1796004000000])).toEqual([name]);
    expect(await stored()).toEqual(waits);
    // A migration that was killed in the middle leaves this state.
    await host.query('DELETE FROM migrations WHERE name = $1', [name]);
    await host.query('UPDATE conversations SET waiting_message_id = NULL WHERE tenant_id = $1', [
      workspaces[1]!.id,
    ]);
    expect(await upgrade('up', [WaitingMessages1796004000000])).toEqual([name]);
    expect(await stored()).toEqual(waits);
    expect(await host.query('SELECT FROM conversations WHERE waiting_message_id IS NOT NULL')).toHaveLength(
      [...waits.values()].filter(Boolean).length,
    );
    expect(await invalidIndexes()).toEqual([]);
  });

  /** Returns the rows of each look-up, those of a workspace alone if it is given. */
  async function lookUps(tenantId?: string): Promise<Record<string, unknown[]>> {
    const found: Record<string, unknown[]> = {};
    for (const table of LOOK_UPS)
      found[table] = await host.query(
        `SELECT * FROM ${table} t WHERE tenant_id = coalesce($1, tenant_id) ORDER BY t::text`,
        [tenantId],
      );
    return found;
  }

  /** Adds a workspace with a row in each table that has look-ups, as a process of the former version does. */
  async function addByFormerVersion(query: (sql: string, values: unknown[]) => Promise<unknown>) {
    const tenantId = randomUUID();
    const inserts = [
      `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
       VALUES ($1, 'Acme', $1::uuid::text, 'PRO', now(), now())`,
      `INSERT INTO api_keys (tenant_id, id, name, hash, first_chars, last_chars, scopes, created_at)
       SELECT $1, gen_random_uuid(), 'Key', sha256(n::text::bytea || decode(replace($1::uuid::text, '-', ''), 'hex')),
              '', '', '{}', now() FROM generate_series(1, 2500) AS n`,
      `INSERT INTO channel_connections (tenant_id, id, channel, external_id, hook_key, settings, credentials_key_id,
         credentials_ciphertext, status, created_at, updated_at)
       SELECT $1, gen_random_uuid(), channel, $1::uuid::text, gen_random_uuid(), '{}', 'k', '\\x00', status, now(), now()
       FROM (VALUES ('TELEGRAM', 'ACTIVE'), ('WHATSAPP', 'REAUTH_REQUIRED'), ('WIDGET', 'DISCONNECTED'))
         AS c (channel, status)`,
      `INSERT INTO agents (tenant_id, id, name, email, role, is_bot, active, created_at, updated_at)
       VALUES ($1, $1, 'Ana', 'ana@example.com', 'OWNER', false, true, now(), now())`,
      `INSERT INTO people (id, email, name, theme, password_hash, created_at)
       VALUES ($1, $1::uuid::text, 'Ana', 'auto', 'x', now())`,
      'INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) VALUES ($1, $1, $1, now())',
    ];
    for (const insert of inserts) await query(insert, [tenantId]);
    return tenantId;
  }

  it('makes the look-ups of all rows, in steps, also again after it was killed', async () => {
    const tenantId = await addByFormerVersion((sql, values) => host.query(sql, values));
    const before = await lookUps();
    expect(Object.values(before).map(({ length }) => length)).toEqual([1, 2_500, 2, 2, 1]);
    const { name } = LookUps1795486100000;
    await host.query('DELETE FROM migrations WHERE name = $1', [name]);
    for (const table of LOOK_UPS) await host.query(`DELETE FROM ${table}`);
    await host.query('DROP TRIGGER memberships_look_ups ON memberships');
    expect(await upgrade('up', [LookUps1795486100000])).toEqual([name]);
    expect(await lookUps()).toEqual(before);
    await host.query('DELETE FROM memberships WHERE tenant_id = $1', [tenantId]);
    expect(await lookUps()).toEqual({ ...before, person_workspaces: [] });
  });

  it('keeps the look-ups of rows that processes of the former version write', async () => {
    const former = new Client({ connectionString: host.stores.databaseUrl });
    await former.connect();
    const { user } = former;
    // Such a process writes while the migrations run, before its role gets the privileges of the new tables.
    for (const table of LOOK_UPS) await host.query(`REVOKE ALL ON ${table} FROM "${user}"`);
    try {
      const query = (sql: string, values: unknown[]) => former.query(sql, values);
      const [tenantId, other] = [await addByFormerVersion(query), await addByFormerVersion(query)];
      const ofOther = await lookUps(other);
      const added = await lookUps(tenantId);
      expect(added).toMatchObject({
        workspace_slugs: [{ slug: tenantId }],
        hook_keys: [expect.anything(), expect.anything()],
        connected_accounts: [{ channel: 'TELEGRAM' }, { channel: 'WHATSAPP' }],
        person_workspaces: [{ person_id: tenantId }],
      });
      expect(added['api_key_hashes']).toHaveLength(2_500);

      await query(
        `UPDATE channel_connections SET status = 'REAUTH_REQUIRED' WHERE tenant_id = $1 AND status = 'ACTIVE'`,
        [tenantId],
      );
      expect(await lookUps(tenantId)).toEqual(added);
      await query(`UPDATE channel_connections SET status = 'DISCONNECTED' WHERE tenant_id = $1`, [tenantId]);
      expect(await lookUps(tenantId)).toEqual({ ...added, hook_keys: [], connected_accounts: [] });
      for (const table of ['memberships', 'api_keys', 'channel_connections', 'agents'])
        await query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
      await query('DELETE FROM workspaces WHERE id = $1', [tenantId]);
      expect(Object.values(await lookUps(tenantId)).flat()).toEqual([]);
      expect(await lookUps(other)).toEqual(ofOther);
    } finally {
      await former.end();
      await upgrade('up', []);
    }
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
