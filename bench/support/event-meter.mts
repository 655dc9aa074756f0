import type { Deployment } from './deployment.mts';
import { postgresMs, processorMs, writesOf } from './usage.mts';

/** Work of all processes in `seconds`: processor time in microseconds, transactions, writes to sockets. */
export interface EventWork {
  seconds: number;
  /** Processor time by process of the measured program. */
  ownUs: Record<string, number>;
  postgresUs: number;
  redisUs: number;
  transactions: number;
  writes: number;
}

/**
 * Measures the consumption of the measured program's processes, by name, and of the servers while `work`
 * runs.
 */
export async function measureWork(
  deployment: Deployment,
  pids: Record<string, number>,
  work: () => Promise<unknown>,
): Promise<EventWork> {
  const before = await read(deployment, pids);
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await read(deployment, pids);
  const names = Object.keys(pids);
  return {
    seconds,
    ownUs: Object.fromEntries(names.map((name) => [name, (after.own[name]! - before.own[name]!) * 1000])),
    postgresUs: (after.postgres - before.postgres) * 1000,
    redisUs: (after.redis - before.redis) * 1000,
    transactions: after.transactions - before.transactions,
    writes: after.writes - before.writes,
  };
}

async function read(deployment: Deployment, pids: Record<string, number>) {
  const { transactions } = await deployment.queryOne<{ transactions: number }>(
    `SELECT (xact_commit + xact_rollback)::float8 AS transactions
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  const info = await deployment.redis.info('cpu');
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return {
    own: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, processorMs(pid)])),
    postgres: (await postgresMs(deployment)) ?? NaN,
    redis: (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1000,
    transactions,
    writes: Object.values(pids).reduce((all, pid) => all + writesOf(pid), 0),
  };
}
