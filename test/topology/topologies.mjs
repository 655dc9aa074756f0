import { startPgBouncer } from '../../scripts/servers/pgbouncer.mjs';
import { RedisCluster } from '../../scripts/servers/redis-cluster.mjs';
import { RedisSentinels } from '../support/redis-sentinels.mjs';

/** Number of connections of PgBouncer to each database. */
const SERVER_CONNECTIONS = 20;

/** Tests of what processes tell each other through Redis. */
const ON_REDIS = ['\\.e2e-spec', 'test/dashboard/(presence|inbox-stream)\\.spec', 'test/topology/redis'];

/** @import { Servers } from '../../scripts/servers.mjs' */

/**
 * Servers to run tests on.
 *
 * @typedef {object} Topology
 * @property {string[]} tests what `npm run test:topology` runs on it
 * @property {(servers: Servers) => Promise<Record<string, string>>} [start] starts what stands between the
 *   tests and the servers, and returns what changes in the tests' environment
 */

/**
 * Topologies that `npm run test:topology` knows, by name. `test/global-setup.mjs` starts the one that
 * TOPOLOGY names.
 */
export const TOPOLOGIES = /** @type {Record<string, Topology>} */ ({
  pooler: { tests: ['\\.e2e-spec', 'test/topology/pooler'], start: startPooler },
  standby: { tests: ['test/topology/standby'] },
  // A Cluster has one database, which the test files use in turn.
  cluster: { tests: ['--runInBand', ...ON_REDIS], start: startRedis(RedisCluster) },
  sentinel: { tests: ON_REDIS, start: startRedis(RedisSentinels) },
  upgrade: { tests: ['test/topology/upgrade'] },
});

/**
 * Starts PgBouncer for both roles of the service. The tests' own administrator goes past it, and so does
 * `migrate`.
 *
 * @param {Servers} servers
 */
async function startPooler({ databaseUrl, databaseOwnerUrl, home, reaper }) {
  const { through, isPrepared } = await startPgBouncer({
    urls: [databaseUrl, ...(databaseOwnerUrl ? [databaseOwnerUrl] : [])],
    home,
    reaper,
    serverConnections: SERVER_CONNECTIONS,
    onLog: console.log,
  });
  return {
    TEST_DATABASE_URL: through(databaseUrl),
    TEST_DATABASE_OWNER_URL: databaseOwnerUrl ? through(databaseOwnerUrl) : '',
    TEST_DATABASE_PREPARED: isPrepared ? 'on' : 'off',
  };
}

/**
 * Returns a function that starts several Redis servers.
 *
 * @param {typeof RedisCluster | typeof RedisSentinels} Several
 * @returns {NonNullable<Topology['start']>}
 */
function startRedis(Several) {
  return async ({ home, reaper }) => {
    const servers = await Several.start({ home, reaper, onLog: console.log });
    servers.disconnect();
    return { TEST_REDIS_URL: servers.url };
  };
}
