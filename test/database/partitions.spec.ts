import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { OwnerDatabase } from '../../src/database/owner-database';
import { PartitionChanges } from '../../src/database/history/partition-changes';
import {
  Day,
  lowestId,
  nameOf,
  PARTITIONED_TABLES,
  PartitionedTable,
  Partitions,
  startOf,
} from '../../src/database/history/partitions';
import { HistoryUses } from '../../src/operations/retention/history-uses';
import { PartitionKeeper } from '../../src/operations/retention/partition-keeper';
import { TableRegistry } from '../../src/database/tables/table-registry';
import { TableRowsRepository } from '../../src/database/tables/table-rows.repository';
import { WorkspacesRepository } from '../../src/workspaces/workspaces.repository';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { ownerDatabase } from '../support/owner-database';
import { waitForLockWait } from '../support/lock-waits';
import { subscribe, Subscription } from '../support/webhook-workspace';

const RETENTION_DAYS = 30;
const MAX_MOVED = 10_000;

describe('partitions of the history', () => {
  let host: MessagingHost;
  let subscription: Subscription;
  let partitions: Partitions;
  let owner: OwnerDatabase;
  let changes: PartitionChanges;
  let today: Day;
  /** The youngest day that is wholly older than the retention. */
  let expired: Day;

  beforeEach(async () => {
    host = await MessagingHost.create();
    subscription = await subscribe(host, 'https://127.0.0.1:9999/');
    await host.query('DELETE FROM event_queue');
    partitions = host.get(Partitions);
    owner = ownerDatabase(host);
    changes = new PartitionChanges(owner);
    today = await partitions.readToday();
    expired = today - RETENTION_DAYS - 1;
  });
  afterEach(async () => {
    await owner.onApplicationShutdown();
    await host.close();
  });

  function keeper(): PartitionKeeper {
    const config = { ...host.app.get<Config>(Config, { strict: false }), retentionDays: RETENTION_DAYS };
    const database = host.get(Database);
    return new PartitionKeeper(
      config,
      partitions,
      changes,
      new HistoryUses(
        database,
        host.get(WorkspacesRepository),
        host.get(TableRegistry),
        host.get(TableRowsRepository),
      ),
    );
  }

  async function addDay(day: Day): Promise<void> {
    for (const table of PARTITIONED_TABLES) {
      expect(await changes.create(table, day)).toBe('done');
      expect(await changes.attach(table, day)).toBe('done');
    }
  }

  async function removeDay(day: Day): Promise<void> {
    for (const table of PARTITIONED_TABLES) {
      await changes.detach(table, day);
      await changes.drop(table, day);
    }
  }

  /** Returns the tables that have a partition of the day, attached or not. */
  async function tablesOf(day: Day, isAttached = true): Promise<PartitionedTable[]> {
    const all = await partitions.list();
    return all.filter((one) => one.day === day && one.isAttached === isAttached).map(({ table }) => table);
  }

  async function retain(): Promise<void> {
    await keeper().detach();
    await keeper().drop();
  }

  /** Returns an id like that of an event that was made at the day's noon. */
  const idOf = (day: Day) => `${lowestId(day + 0.5).slice(0, 14)}7${newId().slice(15)}`;

  async function addEvent(day: Day): Promise<string> {
    const id = idOf(day);
    await host.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, 'message.created', '{}', $3)`,
      [subscription.id, id, startOf(day)],
    );
    return id;
  }

  const eventsOf = (day: Day) =>
    host.query<{ id: string }>('SELECT id FROM events WHERE id >= $1 AND id < $2', [
      lowestId(day),
      lowestId(day + 1),
    ]);

  /** Inserts a running recovery with a filter. It goes down from its cursor. */
  const addMatching = (cursor: string, since: Date | null) =>
    host.query(
      `INSERT INTO webhook_recoveries
         (tenant_id, id, endpoint_id, filter, since, until, status, total, cursor, created_at)
       VALUES ($1, gen_random_uuid(), $2, '{}', $3, now(), 'RUNNING', 1, $4, now())`,
      [subscription.id, subscription.endpoint.id, since, cursor],
    );

  /** Returns all that PostgreSQL knows of a partition, without the partition's own name. */
  async function definitionOf(table: PartitionedTable, day: Day) {
    const name = nameOf(table, day);
    const rows = await host.query<{ bounds: string; options: string[]; indexes: string[] }>(
      `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds, c.reloptions AS options,
         ARRAY(SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x JOIN pg_inherits i ON i.inhrelid = x.indexrelid
               WHERE x.indrelid = c.oid) AS indexes
       FROM pg_class c WHERE c.oid = to_regclass($1)`,
      [name],
    );
    const [{ bounds, options, indexes }] = rows as [(typeof rows)[0]];
    const shapes = indexes.map((index) => index.replace(/^.* ON \S+ /, '')).sort();
    return { bounds, options, shapes };
  }

  it('are made for the coming eight days, just as the migration makes them', async () => {
    const ahead = [today - 1, today, today + 5, today + 8];
    const before = await Promise.all(ahead.map((day) => definitionOf('webhook_deliveries', day)));
    expect(before.every(({ shapes }) => shapes.length === 6)).toBe(true);
    for (const day of ahead) await removeDay(day);

    await keeper().create();

    const after = await Promise.all(ahead.map((day) => definitionOf('webhook_deliveries', day)));
    expect(after).toEqual(before);
    for (let day = today - 1; day <= today + 8; day++)
      expect(await tablesOf(day)).toHaveLength(PARTITIONED_TABLES.length);
  });

  it('are attached when an earlier run was killed before that', async () => {
    await removeDay(today + 3);
    await changes.create('events', today + 3);
    await keeper().create();
    expect(await tablesOf(today + 3)).toHaveLength(PARTITIONED_TABLES.length);
  });

  it('are dropped when they are wholly older than the retention, and not before', async () => {
    for (const day of [expired - 20, expired, expired + 1]) {
      await addDay(day);
      await addEvent(day);
    }
    await retain();
    expect(await tablesOf(expired - 20)).toEqual([]);
    expect(await tablesOf(expired)).toEqual([]);
    expect(await keeper().hasDetached()).toBe(false);
    expect(await tablesOf(expired + 1)).toHaveLength(PARTITIONED_TABLES.length);
    expect(await eventsOf(expired + 1)).toHaveLength(1);
  });

  it.each<[string, (id: string, day: Day) => Promise<unknown>]>([
    [
      'an event in the queue',
      (id) =>
        host.query('INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)', [subscription.id, id]),
    ],
    [
      'a pending delivery',
      (id) =>
        host.query(
          `INSERT INTO pending_deliveries VALUES ($1, $2, $3, 1, $2, 'message.created', 1, 0, false, now())`,
          [subscription.id, id, subscription.endpoint.id],
        ),
    ],
    [
      'a parked event',
      (id) =>
        host.query(
          `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at)
           VALUES ($1, $2, 'webhooks', 'no', now())`,
          [subscription.id, id],
        ),
    ],
    [
      'a recovery',
      (_, day) =>
        host.query(
          `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, status, total, cursor, created_at)
           VALUES ($1, $2, $3, $4, now(), 'RUNNING', 1, $5, now())`,
          [subscription.id, newId(), subscription.endpoint.id, startOf(day), lowestId(day)],
        ),
    ],
    ['a recovery with a filter', (_, day) => addMatching(lowestId(today), startOf(day))],
  ])('stay while %s needs them', async (_, refer) => {
    for (const day of [expired - 1, expired]) await addDay(day);
    await refer(await addEvent(expired), expired);
    await retain();
    expect(await tablesOf(expired - 1)).toEqual([]);
    expect(await tablesOf(expired)).toHaveLength(PARTITIONED_TABLES.length);
    expect(await eventsOf(expired)).toHaveLength(1);

    for (const table of ['event_queue', 'pending_deliveries', 'parked_events', 'webhook_recoveries'])
      await host.query(`DELETE FROM ${table}`);
    await retain();
    expect(await tablesOf(expired)).toEqual([]);
  });

  it('do not stay for what waits in a suspended workspace', async () => {
    await addDay(expired);
    const { workspace, endpoint } = subscription;
    const owe = async (day: Day) =>
      host.query(
        `INSERT INTO pending_deliveries VALUES ($1, $2, $3, 1, $2, 'message.created', 1, 0, false, now())`,
        [workspace.id, await addEvent(day), endpoint.id],
      );
    await owe(expired);
    await owe(today);
    await host.query(
      `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, status, total, cursor, created_at)
       VALUES ($1, gen_random_uuid(), $2, $3, now(), 'RUNNING', 1, $4, now())`,
      [workspace.id, endpoint.id, startOf(expired), lowestId(expired)],
    );
    await retain();
    expect(await tablesOf(expired)).toHaveLength(PARTITIONED_TABLES.length);

    await host.get(WorkspacesService).suspend(workspace.id, SYSTEM);
    await retain();
    expect(await tablesOf(expired)).toEqual([]);
    expect(await host.query('SELECT FROM pending_deliveries')).toHaveLength(1);
    expect(await host.query('SELECT cursor FROM webhook_recoveries')).toEqual([
      { cursor: lowestId(expired + 1) },
    ]);
  });

  it('do not stay for a recovery with a filter that has passed them, or has not been asked for them', async () => {
    for (const [cursor, since] of [
      [lowestId(expired), null],
      [lowestId(today), startOf(expired + 1)],
    ] as const) {
      await addDay(expired);
      await addMatching(cursor, since);
      await retain();
      expect(await tablesOf(expired)).toEqual([]);
      await host.query('DELETE FROM webhook_recoveries');
    }
  });

  it('do not stay for a recovery with a filter of a suspended workspace, which leaves them out', async () => {
    await addDay(expired);
    await addMatching(lowestId(today), null);
    await retain();
    expect(await tablesOf(expired)).toHaveLength(PARTITIONED_TABLES.length);

    await host.get(WorkspacesService).suspend(subscription.id, SYSTEM);
    await retain();
    expect(await tablesOf(expired)).toEqual([]);
    expect(await host.query('SELECT cursor, since FROM webhook_recoveries')).toEqual([
      { cursor: lowestId(today), since: startOf(expired + 1) },
    ]);
  });

  it('come back with their rows when something needs them again before they are dropped', async () => {
    await addDay(expired);
    const id = await addEvent(expired);
    await keeper().detach();
    expect(await eventsOf(expired)).toEqual([]);
    await host.query(
      `INSERT INTO pending_deliveries VALUES ($1, $2, $3, 1, $2, 'message.created', 2, 0, false, now())`,
      [subscription.id, id, subscription.endpoint.id],
    );
    await keeper().drop();
    expect(await tablesOf(expired)).toHaveLength(PARTITIONED_TABLES.length);
    expect(await eventsOf(expired)).toEqual([{ id }]);
  });

  it('wait for a long reader without holding up those who write, and go when it has ended', async () => {
    await addDay(expired);
    const reader = new Client({ connectionString: host.stores.databaseUrl });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM events');

    let isOver = false;
    const detaching = keeper()
      .detach()
      .finally(() => (isOver = true));
    const waited = waitForLockWait(host, 'the keeper');
    const durations: number[] = [];
    while (!isOver) {
      const start = performance.now();
      await subscription.message();
      durations.push(performance.now() - start);
    }
    await Promise.all([detaching, waited]);
    // The limit is the lock timeout of the service's own statements.
    expect(Math.max(...durations)).toBeLessThan(2_000);
    expect(await tablesOf(expired)).toEqual(['events']);

    await reader.query('COMMIT');
    await reader.end();
    await retain();
    expect(await tablesOf(expired)).toEqual([]);
    expect(await tablesOf(expired, false)).toEqual([]);
  });

  it('are kept by several workers at once, and written meanwhile', async () => {
    for (let day = today + 2; day <= today + 8; day++) await removeDay(day);
    for (let day = expired - 3; day <= expired; day++) await addDay(day);
    const workers = Array.from({ length: 4 }, async () => {
      const one = keeper();
      await one.create();
      await one.detach();
      await one.drop();
    });
    const writers = Array.from({ length: 20 }, () => subscription.message());
    await Promise.all([...workers, ...writers]);
    // A keeper that found another one at work has left the change to it.
    await keeper().create();
    await retain();
    for (let day = today - 1; day <= today + 8; day++)
      expect(await tablesOf(day)).toHaveLength(PARTITIONED_TABLES.length);
    for (let day = expired - 3; day <= expired; day++) {
      expect(await tablesOf(day)).toEqual([]);
      expect(await tablesOf(day, false)).toEqual([]);
    }
    expect(await eventsOf(today)).not.toHaveLength(0);
  });

  describe('when one was missing', () => {
    const MISSING = 6;

    it('get its rows from the default partition', async () => {
      await removeDay(today + MISSING);
      const ids = [
        await addEvent(today + MISSING),
        await addEvent(today - 12),
        await addEvent(expired - 400),
      ];
      expect(await partitions.countDefaultRows()).toMatchObject({ events: 3, webhook_deliveries: 0 });
      const [, younger] = ids;

      await keeper().create();
      expect(await partitions.countDefaultRows()).toMatchObject({ events: 0 });
      for (const [n, day] of [today + MISSING, today - 12, expired - 400].entries())
        expect(await eventsOf(day)).toEqual([{ id: ids[n] }]);

      await retain();
      expect(await eventsOf(expired - 400)).toEqual([]);
      expect(await eventsOf(today - 12)).toEqual([{ id: younger }]);
    });

    it('leave more rows than can be moved at once where they are, readable', async () => {
      await removeDay(today + MISSING);
      await host.query(
        `INSERT INTO events (tenant_id, id, type, data, created_at)
         SELECT $1, ($2 || lpad(to_hex(n), 12, '0'))::uuid, 'message.created', '{}', now()
         FROM generate_series(0, $3::integer) AS n`,
        [subscription.id, lowestId(today + MISSING).slice(0, 24), MAX_MOVED],
      );
      await keeper().create();
      expect(await partitions.countDefaultRows()).toMatchObject({ events: 1_000 });
      expect(await eventsOf(today + MISSING)).toHaveLength(MAX_MOVED + 1);
      expect(await tablesOf(today + MISSING)).toEqual(['webhook_attempts', 'webhook_deliveries']);
    });
  });
});
