import { setTimeout as sleep } from 'node:timers/promises';
import { StubAnswer } from '../support/dns-stub';
import { waitFor } from '../support/wait';
import {
  Behaviour,
  closingKeptConnections,
  gzipBomb,
  hanging,
  hugeHead,
  oneByteASecond,
  resetting,
  tenGigabytes,
} from './behaviours';
import { Cluster } from './cluster';
import { Random } from './random';
import { NAMED_HOST, ReceiverName } from './receivers';
import { FULL_DISK, ServiceProcess } from './service-process';

/** Faults of one target never overlap. */
export type Target = 'processes' | 'database' | 'redis' | 'receiver' | 'names' | 'logs';

export interface Fault {
  name: string;
  target: Target;
  /** Recovery is measured at this receiver. */
  witness: ReceiverName;
  /** Settles when the fault is over and recovery begins. */
  strike(cluster: Cluster, random: Random): Promise<void>;
  /** Ends a fault that lasts through recovery. */
  undo?(cluster: Cluster): Promise<void>;
}

const FROZEN_MS = 20_000;

const processes = faultsOf('processes', 'steady', {
  'worker: SIGKILL': ({ workers }, random) => kill(random.pick(workers)),
  'all workers: SIGKILL': async ({ workers }) => {
    for (const worker of workers) await kill(worker);
  },
  'API process: SIGKILL in mid-request': async ({ apis, load }, random) => {
    const api = random.pick(apis);
    await api.ready();
    await waitFor('a request to be under way', () => load.requestsUnderWay(api) > 0, 30_000);
    api.kill();
  },
  'worker: SIGTERM': ({ workers }, random) => terminate(random.pick(workers)),
  'all workers: SIGTERM': async ({ workers }) => {
    await Promise.all(workers.map(terminate));
  },
  'API process: SIGTERM': ({ apis }, random) => terminate(random.pick(apis)),
});

const database = faultsOf('database', 'steady', {
  'PostgreSQL: immediate shutdown, restarted': async ({ stores }, random) => {
    await stores.stopPostgres();
    await sleep(random.between(1_000, 4_000));
    await stores.restartPostgres();
  },
  'PostgreSQL: connections cut': ({ stores }) => stores.cutConnections(),
  'PostgreSQL: frozen for 20 s': ({ stores }) => stores.freezePostgres(FROZEN_MS),
});

const redis = faultsOf('redis', 'steady', {
  'Redis: SIGKILL, restarted with its data': (cluster, random) => restartRedis(cluster, random, false),
  'Redis: SIGKILL, restarted empty': (cluster, random) => restartRedis(cluster, random, true),
  'Redis: FLUSHALL': ({ stores }) => stores.flushRedis(),
  'Redis: connections fall silent': ({ stores }) => Promise.resolve(stores.silenceRedis()),
  'Redis: frozen for 20 s': ({ stores }) => stores.freezeRedis(FROZEN_MS),
});

const receiver = faultsOf('receiver', 'troubled', {
  'receiver: refuses connections': async (cluster, random) => {
    await cluster.receiver('troubled').stop();
    await aWhile(random);
    await cluster.receiver('troubled').listen();
  },
  'receiver: resets connections': misbehave(resetting),
  'receiver: hangs': misbehave(hanging),
  'receiver: one byte a second': misbehave(oneByteASecond),
  'receiver: answers 10 GB': misbehave(tenGigabytes),
  'receiver: gzip bomb': misbehave(gzipBomb),
  'receiver: 1 MB of headers': misbehave(hugeHead),
  'receiver: closes kept connections': misbehave(closingKeptConnections),
});

const names = faultsOf('names', 'named', {
  'name server: hangs': answerNamesWith('SILENCE'),
  'name server: fails': answerNamesWith('SERVFAIL'),
});

/** Processes start with a full disk for their logs. Only log lines may be lost. */
const logs: Fault = {
  name: 'logs: full disk',
  target: 'logs',
  witness: 'steady',
  strike: (cluster) => restartAll(cluster, () => FULL_DISK),
  undo: (cluster) => restartAll(cluster, ({ logFile }) => logFile),
};

export const FAULTS: Fault[] = [...processes, ...database, ...redis, ...receiver, ...names, logs];

export function faultsNamed(...wanted: string[]): Fault[] {
  return wanted.map((name) => {
    const fault = FAULTS.find((one) => one.name === name);
    if (!fault) throw new Error(`No fault is called "${name}"`);
    return fault;
  });
}

function faultsOf(target: Target, witness: ReceiverName, strikes: Record<string, Fault['strike']>): Fault[] {
  return Object.entries(strikes).map(([name, strike]) => ({ name, target, witness, strike }));
}

async function kill(process: ServiceProcess): Promise<void> {
  await process.ready();
  process.kill();
}

async function terminate(process: ServiceProcess): Promise<void> {
  await process.ready();
  await process.terminate();
}

async function restartRedis({ stores }: Cluster, random: Random, empty: boolean): Promise<void> {
  await stores.killRedis();
  await sleep(random.between(500, 3_000));
  await stores.restartRedis({ empty });
}

function misbehave(behaviour: Behaviour): Fault['strike'] {
  return async (cluster, random) => {
    const troubled = cluster.receiver('troubled');
    troubled.behave(behaviour);
    await aWhile(random);
    troubled.heal();
  };
}

function answerNamesWith(answer: StubAnswer): Fault['strike'] {
  return async (cluster, random) => {
    cluster.names.set(NAMED_HOST, { A: answer, AAAA: answer });
    cluster.receiver('named').closeConnections(); // a reused connection needs no DNS lookup
    await aWhile(random);
    cluster.answerNames();
  };
}

/** One after the other, so that at least one process is always up. */
async function restartAll(
  { processes }: Cluster,
  output: (process: ServiceProcess) => string,
): Promise<void> {
  for (const process of processes) await process.restartWith(output(process));
}

function aWhile(random: Random): Promise<void> {
  return sleep(random.between(3_000, 5_000));
}
