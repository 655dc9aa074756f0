import { createEmptyDatabase, dropStores, ownerOf } from '../support/test-database';
import { query, TestCli } from '../support/test-cli';

// Each migration is taken back by a process of its own.
jest.setTimeout(180_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('migrate', () => {
  it('goes up, all the way down, and up again, with two at once and Redis away', async () => {
    const empty = { ...cli.stores, ...(await createEmptyDatabase()) };
    const { databaseUrl, databaseAdminUrl } = empty;
    const migrateEnv = {
      ...cli.env,
      ...ownerOf(empty),
      DATABASE_URL: databaseUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const migrate = (...args: string[]) => cli.callIn(migrateEnv, 'migrate', ...args);
    try {
      expect(await cli.refusalIn(migrateEnv, 'api-key', 'list', '--workspace', 'x')).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('run "migrate" first'),
      });

      const both = await Promise.all([migrate(), migrate()]);
      const applied = both.flatMap(({ migrations }) => migrations as string[]);
      expect(applied.length).toBeGreaterThanOrEqual(4);
      expect(new Set(applied).size).toBe(applied.length);
      const schema = await schemaOf(databaseAdminUrl);

      const takenBack: string[] = [];
      while (takenBack.length < applied.length) {
        const { direction, migrations } = await migrate('--down');
        expect({ direction, count: migrations.length }).toEqual({ direction: 'down', count: 1 });
        takenBack.push(...migrations);
      }
      expect(takenBack).toEqual([...applied].reverse());
      expect(await migrate('--down')).toEqual({ direction: 'down', migrations: [] });
      expect((await schemaOf(databaseAdminUrl)).filter((line) => !line.includes('migrations'))).toEqual([]);

      expect(await migrate()).toEqual({ direction: 'up', migrations: applied });
      expect(await schemaOf(databaseAdminUrl)).toEqual(schema);
    } finally {
      await dropStores(empty);
    }
  });
});

/** Returns every column, constraint, index and function of the service, a line each. */
async function schemaOf(databaseUrl: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    databaseUrl,
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS line
       FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL
     SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
     UNION ALL
     SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL
     SELECT concat_ws(' ', 'function', proname) FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
     ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}
