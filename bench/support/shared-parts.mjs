import { sleep } from '../../scripts/processes.mjs';
import { postgresMs, processorMs } from './usage.mjs';

const LOCKS_EVERY_MS = 250;

/**
 * What all processes of the service share: PostgreSQL, Redis or the nodes of a Cluster, and perhaps PgBouncer.
 *
 * @typedef {object} SharedParts
 * @property {import('./environment.mjs').Deployment} deployment
 * @property {import('ioredis').Redis[]} nodes a client of each Redis server
 * @property {number} [pooler] PgBouncer's process
 */

/** @typedef {Awaited<ReturnType<typeof consumption>>} Consumption */

/**
 * What the shared parts do while something is done.
 *
 * @param {SharedParts} parts
 * @param {() => Promise<unknown>} work
 */
export async function consumption(parts, work) {
  const before = await countersOf(parts);
  const locks = watchLocks(parts.deployment);
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const locked = await locks.end();
  const after = await countersOf(parts);
  const redis = after.redis.map(({ figures }, n) => difference(figures, before.redis[n].figures));
  const calls = after.redis.map(({ calls }, n) => difference(calls, before.redis[n].calls));
  return {
    seconds,
    locked,
    postgres: difference(after.postgres, before.postgres),
    pooler: { ms: after.pooler - before.pooler },
    redis: redis.reduce(sum),
    /** Of a Cluster, the node with most work: it is the first one that saturates. */
    busiestNode: redis.reduce((busiest, node) => (node.ms > busiest.ms ? node : busiest)),
    /** Of Redis, by command. */
    calls: calls.reduce(sum),
  };
}

async function countersOf({ deployment, nodes, pooler }) {
  return {
    postgres: await postgresCounters(deployment),
    redis: await Promise.all(nodes.map(redisCounters)),
    pooler: pooler === undefined ? 0 : processorMs(pooler),
  };
}

async function postgresCounters(deployment) {
  const [row] = await deployment.query(
    `SELECT (xact_commit + xact_rollback)::float8 AS transactions, sessions::float8 AS connections,
       (SELECT wal_bytes FROM pg_stat_wal)::float8 AS bytes
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return { ...row, ms: (await postgresMs(deployment)) ?? 0 };
}

async function redisCounters(redis) {
  const info = await redis.info('everything');
  const figure = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)[1]);
  const calls = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].map(([, name, count]) => [
    name,
    Number(count),
  ]);
  return {
    figures: {
      ms: (figure('used_cpu_user') + figure('used_cpu_sys')) * 1000,
      commands: figure('total_commands_processed'),
      bytes: figure('total_net_input_bytes') + figure('total_net_output_bytes'),
    },
    calls: Object.fromEntries(calls),
  };
}

/** Samples the locks: the mean number of those that are held, and of those that somebody waits for. */
function watchLocks(deployment) {
  const samples = [];
  let isEnded = false;
  const watching = (async () => {
    while (!isEnded) {
      const [sample] = await deployment.query(
        `SELECT count(*) FILTER (WHERE granted)::int AS held, count(*) FILTER (WHERE NOT granted)::int AS awaited
         FROM pg_locks WHERE pid <> pg_backend_pid()`,
      );
      samples.push(sample);
      await sleep(LOCKS_EVERY_MS);
    }
  })();
  watching.catch(() => undefined); // `end` throws it
  const mean = (figure) => samples.reduce((all, sample) => all + sample[figure], 0) / samples.length;
  return {
    async end() {
      isEnded = true;
      await watching;
      return { held: mean('held'), awaited: mean('awaited') };
    },
  };
}

/** What was not counted before began at zero. */
const difference = (after, before) => combine(after, before, (to, from) => to - from);
const sum = (one, other) => combine(one, other, (value, more) => value + more);

/** Figure by figure. @param {(one: number, other: number) => number} operation */
function combine(one, other, operation) {
  const names = Object.keys({ ...one, ...other });
  return Object.fromEntries(names.map((name) => [name, operation(one[name] ?? 0, other[name] ?? 0)]));
}
