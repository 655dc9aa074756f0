import { PARTITION_KEYS } from '../../src/database/history/partitions';
import { isNeeded, TableDeclaration } from '../../src/database/tables/table-declaration';
import { TableRegistry } from '../../src/database/tables/table-registry';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';

/** Tables that belong to the migrations themselves. */
const OF_MIGRATIONS = /^(migrations|typeorm_metadata)/;
/** Types of columns that store what people write, or what is written about them. */
const HOLDS_TEXT = ['text', 'ARRAY', 'json', 'jsonb', 'bytea'];

interface Column {
  table: string;
  name: string;
  type: string;
}

describe('the tables of the database', () => {
  let worker: TestService;
  let tables: TableDeclaration[];
  let columns: Column[];

  beforeAll(async () => {
    worker = await TestService.create({ role: 'worker' });
    tables = worker.app.get(TableRegistry).list();
    const found = await worker.query<Column>(
      `SELECT c.table_name AS "table", c.column_name AS name, c.data_type AS type
       FROM information_schema.columns c
       JOIN pg_class p ON p.oid = format('public.%I', c.table_name)::regclass
       WHERE c.table_schema = 'public' AND p.relkind IN ('r', 'p') AND NOT p.relispartition`,
    );
    columns = found.filter(({ table }) => !OF_MIGRATIONS.test(table));
  });

  const columnsOf = (table: string) => columns.filter((column) => column.table === table);
  const hasColumn = (table: string, name: string) => columnsOf(table).some((column) => column.name === name);
  const tableWith = (...names: string[]) =>
    tables.filter(({ name }) => names.some((column) => hasColumn(name, column)));

  it('are all registered, each by one feature, in a worker', () => {
    const existing = [...new Set(columns.map(({ table }) => table))].sort();
    expect(tables.map(({ name }) => name)).toEqual(existing);
  });

  it('are the same in a host that imports the services', async () => {
    const host = await MessagingHost.create({ beside: worker });
    const names = host
      .get(TableRegistry)
      .list()
      .map(({ name }) => name);
    await host.close();
    expect(names).toEqual(tables.map(({ name }) => name));
  });

  it('are partitioned as the ground lists them', async () => {
    const partitioned = await worker.query<{ table: string; key: string }>(
      `SELECT c.relname AS "table", a.attname AS key
       FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]`,
    );
    expect(Object.fromEntries(partitioned.map(({ table, key }) => [table, key]))).toEqual(PARTITION_KEYS);
  });

  it('are declared with their primary key', async () => {
    const keys = await worker.query<{ table: string; key: string }>(
      `SELECT c.relname AS "table", string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ', ' ORDER BY k.n) AS key
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
       WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
       GROUP BY c.relname, i.indexrelid`,
    );
    for (const { name, key } of tables) {
      const unique = keys.filter(({ table }) => table === name).map((one) => one.key);
      const declared = Object.entries(key)
        .map(([column, type]) => `${column} ${type === 'timestamptz' ? 'timestamp with time zone' : type}`)
        .join(', ');
      expect({ name, unique }).toEqual({ name, unique: expect.arrayContaining([declared]) });
    }
  });

  it('say where their rows are: what has the workspace first in its key with it, else on the coordinator', () => {
    for (const { name, key, placement } of tables) {
      const isOfWorkspace = name === 'workspaces' || Object.keys(key)[0] === 'tenant_id';
      expect([name, placement]).toEqual([name, isOfWorkspace ? 'workspace' : 'coordinator']);
    }
    expect(new Set(tables.map(({ placement }) => placement)).size).toBe(2);
  });

  it('say of their deletion, erasure, export and retention what is done, or why nothing is', () => {
    for (const { name, deletion, erasure, export: exported, retention } of tables) {
      for (const action of [deletion, erasure, exported, retention]) {
        if (!isNeeded(action)) expect(`${name}: ${action.none}`).toMatch(/: \w+( [\w,:;']+){3,}\.$/);
      }
      for (const action of [erasure, exported])
        if (isNeeded(action)) expect(Object.values(action)).toContainEqual(expect.any(Function));
    }
  });

  it('go with their workspace if they have a tenant_id, but what goes with it at the very end', () => {
    const kept = tableWith('tenant_id').filter(({ deletion }) => !isNeeded(deletion));
    expect(kept.map(({ name }) => name)).toEqual(['audit_entries', 'workspace_deletions', 'workspace_slugs']);
    const others = tables.filter(({ name }) => !hasColumn(name, 'tenant_id'));
    expect(others.filter(({ deletion }) => isNeeded(deletion))).toEqual([]);
  });

  it('go before the tables that they refer to', async () => {
    const references = await worker.query<{ from: string; to: string }>(
      `SELECT DISTINCT f.relname AS "from", t.relname AS "to"
       FROM pg_constraint r JOIN pg_class f ON f.oid = r.conrelid JOIN pg_class t ON t.oid = r.confrelid
       WHERE r.contype = 'f' AND NOT f.relispartition AND f.relnamespace = 'public'::regnamespace`,
    );
    const order = worker.app
      .get(TableRegistry)
      .listForDeletion()
      .map(({ name }) => name);
    for (const { from, to } of references) {
      if (from === to || !order.includes(from) || !order.includes(to)) continue;
      expect({ from, to, isBefore: order.indexOf(from) < order.indexOf(to) }).toMatchObject({
        isBefore: true,
      });
    }
  });

  // A new table on this list needs an erasure, or a reason here.
  it('erase what they say of a person, where they name a contact, a conversation or a message', () => {
    const naming = tableWith('contact_id', 'conversation_id', 'message_id');
    const keeping = naming.filter(({ erasure }) => !isNeeded(erasure)).map(({ name }) => name);
    // The first is the proof of an erasure: it names a contact and says nothing about them. The second says
    // how far agents have read in a conversation, the third whose text is gone.
    expect(keeping).toEqual(['contact_erasures', 'read_marks', 'unsent_messages']);
  });

  it('export what they say of a person, where they name a contact', () => {
    const naming = tableWith('contact_id').filter((table) => !isNeeded(table.export));
    // The second waits for its message.
    expect(naming.map(({ name }) => name)).toEqual(['contact_erasures', 'early_changes']);
  });

  it('hold no text of people beside those that erase it', () => {
    const texts = tables.filter(
      ({ name, key, erasure }) =>
        !isNeeded(erasure) &&
        columnsOf(name).some((column) => HOLDS_TEXT.includes(column.type) && !(column.name in key)),
    );
    // Each was checked: statuses, counts, errors of ours or of a receiver, settings, agents and people who
    // log in.
    expect(texts.map(({ name }) => name)).toEqual([
      'agents',
      'alerts',
      'api_keys',
      'attempt_rollups',
      'audit_entries',
      'automatic_recoveries',
      'channel_connections',
      'contact_erasures',
      'early_receipts',
      'known_browsers',
      'login_sessions',
      'message_search_progress',
      'pending_deliveries',
      'people',
      'provider_files',
      'push_addresses',
      'saved_replies',
      'second_factors',
      'webhook_attempts',
      'webhook_endpoints',
      'webhook_recoveries',
      'workspace_deletions',
      'workspaces',
    ]);
  });

  it('are cleaned up by a column with an index of its own', async () => {
    const indexes = await worker.query<{ table: string; definition: string }>(
      `SELECT tablename AS "table", indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'`,
    );
    for (const { table, cleanUp } of worker.app.get(TableRegistry).listCleanUps()) {
      const own = indexes.filter((index) => index.table === table.name).map(({ definition }) => definition);
      expect(own).toContainEqual(expect.stringMatching(new RegExp(`\\(${cleanUp.age}\\b`)));
    }
  });
});
