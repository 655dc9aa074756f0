import { Client, Connection } from 'pg';
import { PostgresProxy } from '../../test/support/postgres-proxy';
import { ProxiedHost } from '../../test/support/proxied-host';
import { TestStores } from '../../test/support/test-database';
import { Database } from './database';
import { DatabaseUnavailable, violatesUnique } from './driver/database-errors';

const INSERT = 'INSERT INTO jottings (id) VALUES ($1)';

describe('a transaction', () => {
  let backend: ProxiedHost;
  let proxy: PostgresProxy;
  let database: Database;

  beforeAll(async () => {
    backend = await ProxiedHost.create({ databasePoolSize: 2 });
    proxy = backend.proxy;
    database = backend.host.get(Database);
    await makeTable(backend.stores);
  });
  afterEach(async () => {
    proxy.mend();
    await database.query('DELETE FROM jottings');
  });

  const listIds = async () =>
    (await database.query<{ id: number }>('SELECT id FROM jottings ORDER BY id')).map(({ id }) => id);

  it('commits what it pipelined and awaited, in that order', async () => {
    const counts = await database.transaction(async (tx) => {
      tx.pipeline(INSERT, [1]);
      const [first] = await tx.prepared<{ count: string }>('SELECT count(*) FROM jottings');
      await tx.query(INSERT, [2]);
      tx.pipeline(INSERT, [3]);
      const [last] = await tx.query<{ count: string }>('SELECT count(*) FROM jottings');
      return [first!.count, last!.count];
    });
    expect(counts).toEqual(['1', '3']);
    expect(await listIds()).toEqual([1, 2, 3]);
  });

  it('asks for the columns of a prepared statement once a connection', async () => {
    await database.query(INSERT, [1]);
    const asked = jest.spyOn(Connection.prototype, 'describe');
    const read = 'SELECT id, id + 1 AS next FROM jottings WHERE id = $1';
    const answers = await database.transaction(async (tx) => {
      const first = await tx.prepared(read, [1]);
      const others = await Promise.all([tx.prepared(read, [1]), tx.prepared(read, [2])]);
      return [first, ...others];
    });
    expect(answers).toEqual([[{ id: 1, next: 2 }], [{ id: 1, next: 2 }], []]);
    // BEGIN, the first read and COMMIT.
    expect(asked).toHaveBeenCalledTimes(3);
    asked.mockRestore();
  });

  it('runs nothing when it can’t begin, neither what was sent with BEGIN nor what follows', async () => {
    proxy.failStatements('XX000', /^BEGIN/);
    const work = database.transaction(async (tx) => {
      tx.pipeline(INSERT, [1]);
      void tx.query(INSERT, [2]).catch(() => undefined);
      await tx.query(INSERT, [3]);
    });
    await expect(work).rejects.toThrow(DatabaseUnavailable);
    expect(proxy.failed).toBe(1);
    proxy.mend();
    expect(await listIds()).toEqual([]);
  });

  it('fails with the error of the first statement that failed, and rolls back', async () => {
    const work = database.transaction((tx) => {
      tx.pipeline(INSERT, [1]);
      tx.pipeline(INSERT, [1]);
      tx.pipeline(`${INSERT} -- never sent before`, [2]);
    });
    const error: unknown = await work.catch((failure: unknown) => failure);
    expect(violatesUnique(error, 'jottings_pkey')).toBe(true);
    // The same connection, which knows no statement by the name of the skipped one.
    await database.transaction((tx) => void tx.pipeline(`${INSERT} -- never sent before`, [2]));
    expect(await listIds()).toEqual([2]);
  });

  it('fails when work goes on after a failed statement', async () => {
    let isCommitted = false;
    const work = database.transaction(async (tx) => {
      tx.onCommit(() => (isCommitted = true));
      tx.pipeline(INSERT, [1]);
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('was rolled back');
    expect(isCommitted).toBe(false);
    expect(await listIds()).toEqual([]);
  });

  it('fails with the error of its work, and rolls back', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query(INSERT, [1]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await listIds()).toEqual([]);
  });

  it.each(['transaction', 'queuePacket'] as const)(
    'sent as one packet by %s commits without COMMIT, or not at all',
    async (run) => {
      const insert = (...ids: number[]) =>
        database[run]((tx) => {
          for (const id of ids) tx.pipeline(INSERT, [id]);
          return Promise.resolve(proxy.failed);
        });
      proxy.failStatements('XX000', /^(BEGIN|COMMIT)/);
      await insert(1, 2);
      expect(await listIds()).toEqual([1, 2]);
      expect(violatesUnique(await insert(3, 1).catch((error: unknown) => error), 'jottings_pkey')).toBe(true);
      // A failure of the commit itself, after both statements have succeeded.
      await expect(insert(4, -1)).rejects.toThrow('jottings_id_fkey');
      expect(await listIds()).toEqual([1, 2]);
      await insert(5);
      expect(await listIds()).toEqual([1, 2, 5]);
    },
  );

  it('fails when a value can’t be written, and sends nothing', async () => {
    const itself: Record<string, unknown> = {};
    itself.itself = itself;
    const work = database.transaction(async (tx) => {
      tx.pipeline(INSERT, [1]);
      await tx.query(INSERT, [itself]);
    });
    await expect(work).rejects.toThrow('circular');
    expect(await listIds()).toEqual([]);
  });

  it('reads values as statements outside do', async () => {
    const select = `SELECT '2026-01-02 03:04:05.678901+00'::timestamptz AS at, 1::integer AS one, NULL AS nothing`;
    const outside = await database.query(select);
    expect(await database.transaction((tx) => tx.query(select))).toEqual(outside);
    expect(await database.transaction((tx) => tx.prepared(select))).toEqual(outside);
  });
});

async function makeTable({ databaseOwnerUrl, databaseUrl }: TestStores): Promise<void> {
  const client = new Client({ connectionString: databaseOwnerUrl ?? databaseUrl });
  await client.connect();
  await client.query(
    `CREATE TABLE numbers (id integer PRIMARY KEY); INSERT INTO numbers SELECT generate_series(1, 10);
     CREATE TABLE jottings (id integer PRIMARY KEY REFERENCES numbers DEFERRABLE INITIALLY DEFERRED);
     GRANT ALL ON jottings, numbers TO PUBLIC`,
  );
  await client.end();
}
