import { Client } from 'pg';
import { print } from '../support/report';
import { createStores, setting, TestStores } from '../support/test-database';
import { ExecutedStatement, readStatements } from './recorded-statements';
import { Route, routeOf } from './routes';
import { BY_COORDINATOR, OF_ALL_TABLES, UNROUTED } from './unrouted';

/** Runs on Citus what the tests before it have recorded: `npm run test:citus`. */
describe('the statements of the service, on Citus', () => {
  let stores: TestStores;
  let client: Client;
  let routes: (ExecutedStatement & { route: Route })[];

  beforeAll(async () => {
    stores = await createStores();
    client = new Client({ connectionString: stores.databaseAdminUrl });
    await client.connect();
    routes = [];
    for (const statement of readStatements(setting('RECORDED_STATEMENTS')))
      routes.push({ ...statement, route: await routeOf(client, statement) });
  }, 600_000);

  afterAll(async () => {
    await client.end();
  });

  it('are taken by Citus', () => {
    const counts = new Map<string, number>();
    for (const { route } of routes) counts.set(route.kind, (counts.get(route.kind) ?? 0) + 1);
    print(`Of ${routes.length} texts: ${JSON.stringify(Object.fromEntries(counts))}`);
    const refused = routes.flatMap(({ place, sql, route }) =>
      route.kind === 'refused' ? [`${place}: ${route.because}\n${sql}`] : [],
    );
    expect(refused).toEqual([]);
  });

  it('ask one shard each, but for those that are listed', () => {
    const unrouted = routes.filter(({ route }) => ['all shards', 'coordinator'].includes(route.kind));
    const strangers = unrouted
      .filter(({ place, route }) => !(place in (route.kind === 'coordinator' ? BY_COORDINATOR : UNROUTED)))
      .map(({ place, sql, route }) => `${place} asks ${route.kind}\n${sql}`);
    expect(strangers).toEqual([]);
    const places = new Set(unrouted.map(({ place }) => place));
    expect(Object.keys(OF_ALL_TABLES).filter((place) => !places.has(place))).toEqual([]);
  });
});
