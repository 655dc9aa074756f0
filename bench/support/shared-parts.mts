import type { Redis } from 'ioredis';
import { sleep } from '../../scripts/processes.mjs';
import type { Deployment } from './deployment.mts';
import { itemAt } from './items.mts';
import { postgresMs, processorMs } from './usage.mts';

const LOCKS_EVERY_MS = 250;

/**
 * Servers that all processes of the service share: PostgreSQL, Redis (or the nodes of a Cluster), and
 * PgBouncer where it is used.
 */
export interface SharedParts {
  deployment: Deployment;
  /** Clients, one for each Redis server. */
  nodes: Redis[];
  /** Process id of PgBouncer; undefined without it. */
  pooler?: number;
}

type Figures<Name extends string> = Record<Name, number>;
type PostgresFigures = Figures<'transactions' | 'connections' | 'bytes' | 'ms'>;
type RedisFigures = Figures<'ms' | 'commands' | 'bytes'>;
type LockFigures = Figures<'held' | 'awaited'>;

/** Work of the shared servers in `seconds`: processor time (`ms`), bytes, transactions and commands. */
export interface Consumption {
  seconds: number;
  /** Mean numbers of PostgreSQL locks that transactions held, and waited for. */
  locked: LockFigures;
  postgres: PostgresFigures;
  pooler: Figures<'ms'>;
  redis: RedisFigures;
  /** Work of the Redis server with most processor time: in a Cluster it saturates first. */
  busiestNode: RedisFigures;
  /** Numbers of Redis commands, by command. */
  calls: Record<string, number>;
}

/** Measures the consumption of the shared servers while `work` runs. */
export async function consumption(parts: SharedParts, work: () => Promise<unknown>): Promise<Consumption> {
  const before = await countersOf(parts);
  const locks = watchLocks(parts.deployment);
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const locked = await locks.end();
  const after = await countersOf(parts);
  const nodes = after.redis.map((node, n) => {
    const then = itemAt(before.redis, n);
    return { figures: difference(node.figures, then.figures), calls: difference(node.calls, then.calls) };
  });
  const redis = nodes.map(({ figures }) => figures);
  return {
    seconds,
    locked,
    postgres: difference(after.postgres, before.postgres),
    pooler: { ms: after.pooler - before.pooler },
    redis: redis.reduce(sum),
    busiestNode: redis.reduce((busiest, node) => (node.ms > busiest.ms ? node : busiest)),
    calls: nodes.map(({ calls }) => calls).reduce(sum),
  };
}

async function countersOf({ deployment, nodes, pooler }: SharedParts) {
  return {
    postgres: await postgresCounters(deployment),
    redis: await Promise.all(nodes.map(redisCounters)),
    pooler: pooler === undefined ? 0 : processorMs(pooler),
  };
}

async function postgresCounters(deployment: Deployment): Promise<PostgresFigures> {
  const row = await deployment.queryOne<Figures<'transactions' | 'connections' | 'bytes'>>(
    `SELECT (xact_commit + xact_rollback)::float8 AS transactions, sessions::float8 AS connections,
       (SELECT wal_bytes FROM pg_stat_wal)::float8 AS bytes
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return { ...row, ms: (await postgresMs(deployment)) ?? 0 };
}

async function redisCounters(
  redis: Redis,
): Promise<{ figures: RedisFigures; calls: Record<string, number> }> {
  const info = await redis.info('everything');
  const figure = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  const calls = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].map(
    ([, name, count]): [string, number] => [name!, Number(count)],
  );
  return {
    figures: {
      ms: (figure('used_cpu_user') + figure('used_cpu_sys')) * 1000,
      commands: figure('total_commands_processed'),
      bytes: figure('total_net_input_bytes') + figure('total_net_output_bytes'),
    },
    calls: Object.fromEntries(calls),
  };
}

/** Samples the number of PostgreSQL's locks every 250 ms until `end` is called, which returns the means. */
function watchLocks(deployment: Deployment): { end: () => Promise<LockFigures> } {
  const samples: LockFigures[] = [];
  let isEnded = false;
  const watching = (async () => {
    while (!isEnded) {
      samples.push(
        await deployment.queryOne<LockFigures>(
          `SELECT count(*) FILTER (WHERE granted)::int AS held, count(*) FILTER (WHERE NOT granted)::int AS awaited
           FROM pg_locks WHERE pid <> pg_backend_pid()`,
        ),
      );
      await sleep(LOCKS_EVERY_MS);
    }
  })();
  watching.catch(() => undefined); // `end` throws it
  const mean = (figure: keyof LockFigures) =>
    samples.reduce((all, sample) => all + sample[figure], 0) / samples.length;
  return {
    async end() {
      isEnded = true;
      await watching;
      return { held: mean('held'), awaited: mean('awaited') };
    },
  };
}

/** Subtracts earlier counters from later ones, by name. A counter that is missing counts as zero. */
function difference<Name extends string>(after: Figures<Name>, before: Figures<Name>): Figures<Name> {
  return combine(after, before, (to, from) => to - from);
}

function sum<Name extends string>(one: Figures<Name>, other: Figures<Name>): Figures<Name> {
  return combine(one, other, (value, more) => value + more);
}

function combine<Name extends string>(
  one: Figures<Name>,
  other: Figures<Name>,
  operation: (one: number, other: number) => number,
): Figures<Name> {
  const names = Object.keys({ ...one, ...other }) as Name[];
  const combined = names.map((name) => [name, operation(one[name] ?? 0, other[name] ?? 0)]);
  return Object.fromEntries(combined) as Figures<Name>;
}
