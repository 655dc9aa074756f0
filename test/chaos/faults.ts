import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { StubAnswer } from '../support/dns-stub';
import { waitFor } from '../support/wait';
import {
  Behaviour,
  closingKeptConnections,
  connectingSlowly,
  gzipBomb,
  hanging,
  hugeHead,
  oneByteASecond,
  resetting,
  tenGigabytes,
} from './behaviours';
import { ChaosCluster } from './cluster';
import {
  deletion,
  flood,
  floodBesideSnapshot,
  poison,
  reactivation,
  recovery,
  slowDeletion,
  tarpits,
} from './neighbour-faults';
import { Random } from './random';
import { NAMED_HOST, ReceiverName } from './receivers';
import { FULL_DISK, ChaosProcess } from './service-process';
import { takePartitionAway } from './tables';

/** Part that a fault strikes. Faults of one target never overlap. */
export type FaultTarget = 'processes' | 'database' | 'redis' | 'receiver' | 'names' | 'logs' | 'neighbours';

export interface Fault {
  name: string;
  target: FaultTarget;
  /** Receiver at which recovery is measured. */
  witness: ReceiverName;
  /** Causes the fault. Settles when the fault is over and recovery begins. */
  strike(cluster: ChaosCluster, random: Random): Promise<void>;
  /** Ends a fault that lasts through recovery. */
  undo?(cluster: ChaosCluster): Promise<void>;
  /** Returns what prevents the fault on this machine; null if nothing does. */
  obstacle?(cluster: ChaosCluster): string | null | Promise<string | null>;
}

const FROZEN_MS = 20_000;
const DISK_FULL_MS = 10_000;
/** Longest time between two writes of a process to Redis. */
const REDIS_PROBE_MS = 3_000;
/** Time in which a process notices that its clock is wrong, or right again. */
const NOTICE_MS = 15_000;

const processes = faultsOf('processes', 'steady', {
  'worker: SIGKILL': ({ workers }, random) => kill(random.pick(workers)),
  'all workers: SIGKILL': async ({ workers }) => {
    for (const worker of workers) await kill(worker);
  },
  'API process: SIGKILL in mid-request': async ({ apis, client }, random) => {
    const api = random.pick(apis);
    await api.ready();
    await waitFor('a request to be under way', () => client.requestsUnderWay(api) > 0, 30_000);
    api.kill();
  },
  'worker: SIGTERM': ({ workers }, random) => terminate(random.pick(workers)),
  'all workers: SIGTERM': async ({ workers }) => {
    await Promise.all(workers.map(terminate));
  },
  'API process: SIGTERM': ({ apis }, random) => terminate(random.pick(apis)),
  'worker: clock 5 s ahead': async (cluster, random) => {
    const worker = random.pick(cluster.workers);
    await worker.ready();
    worker.shiftClock();
    await refuses(cluster, worker);
    await aWhile(random);
    worker.shiftClock();
    await servesAgain(cluster, worker);
  },
  'recovery: workers killed': recovery,
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

const fullDisk: Fault = {
  name: 'PostgreSQL: disk full for 10 s',
  target: 'database',
  witness: 'steady',
  strike: ({ stores }) => stores.fillDisk(DISK_FULL_MS),
  obstacle: ({ stores }) => stores.diskIsUnlimited,
};

const missingPartition: Fault = {
  name: 'PostgreSQL: partition missing',
  target: 'database',
  witness: 'steady',
  async strike({ stores }, random) {
    const bringBack = await takePartitionAway(stores);
    await aWhile(random);
    await bringBack();
  },
};

const redis = faultsOf('redis', 'steady', {
  'Redis: SIGKILL, restarted with its data': (cluster, random) => restartRedis(cluster, random, false),
  'Redis: SIGKILL, restarted empty': (cluster, random) => restartRedis(cluster, random, true),
  'Redis: FLUSHALL': ({ stores }) => stores.flushRedis(),
  'Redis: connections fall silent': ({ stores }) => Promise.resolve(stores.silenceRedis()),
  'Redis: frozen for 20 s': ({ stores }) => stores.freezeRedis(FROZEN_MS),
  'Redis: failover, the old primary refuses writes': async ({ stores, complaints }) => {
    const refusedWrites = await stores.failOverRedis();
    const nobodyWrites = async () => (await refusedWrites(REDIS_PROBE_MS)) === 0;
    await waitFor('the new primary to be found', nobodyWrites, NOTICE_MS).catch(() =>
      complaints.push('a process wrote to the old primary of Redis for 15 s'),
    );
  },
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
  'receiver: connects slowly': async (cluster, random) => {
    const troubled = cluster.receiver('troubled');
    troubled.behave(connectingSlowly);
    troubled.closeConnections();
    await aWhile(random);
    troubled.heal();
  },
});

const names = faultsOf('names', 'named', {
  'name server: hangs': answerNamesWith('SILENCE'),
  'name server: fails': answerNamesWith('SERVFAIL'),
});

const neighbours = faultsOf('neighbours', 'steady', {
  'neighbour: flood': flood,
  'neighbour: flood beside a snapshot held open': floodBesideSnapshot,
  'neighbour: endpoints hang': tarpits,
  'neighbour: endpoints deleted with a backlog': deletion,
  'neighbour: endpoint reactivated with a backlog': reactivation,
  'neighbour: endpoints deleted while they connect': slowDeletion,
  'neighbour: poisoned event': poison,
});

/** Restarts processes with a full disk for their logs. Only log lines may be lost. */
const logs: Fault = {
  name: 'logs: full disk',
  target: 'logs',
  witness: 'steady',
  strike: (cluster) => restartAll(cluster, () => FULL_DISK),
  undo: (cluster) => restartAll(cluster, ({ logFile }) => logFile),
  obstacle: () => (existsSync(FULL_DISK) ? null : `there is no ${FULL_DISK}, which only Linux has`),
};

export const FAULTS: Fault[] = [
  ...processes,
  ...database,
  fullDisk,
  missingPartition,
  ...redis,
  ...receiver,
  ...names,
  ...neighbours,
  logs,
];

export function faultsNamed(...wanted: string[]): Fault[] {
  return wanted.map((name) => {
    const fault = FAULTS.find((one) => one.name === name);
    if (!fault) throw new Error(`No fault is called "${name}"`);
    return fault;
  });
}

function faultsOf(
  target: FaultTarget,
  witness: ReceiverName,
  strikes: Record<string, Fault['strike']>,
): Fault[] {
  return Object.entries(strikes).map(([name, strike]) => ({ name, target, witness, strike }));
}

async function kill(process: ChaosProcess): Promise<void> {
  await process.ready();
  process.kill();
}

async function terminate(process: ChaosProcess): Promise<void> {
  await process.ready();
  await process.terminate();
}

/** Waits until a process reports that it does not serve because of its clock. */
async function refuses({ complaints }: ChaosCluster, process: ChaosProcess): Promise<void> {
  const isRefusing = async () => (await process.refusal())?.includes('clock');
  await waitFor('the refusal', isRefusing, NOTICE_MS).catch(() =>
    complaints.push(`${process.name} served with a clock 5 s ahead`),
  );
}

async function servesAgain({ complaints }: ChaosCluster, process: ChaosProcess): Promise<void> {
  const isServing = async () => (await process.refusal()) === null;
  await waitFor('the end of the refusal', isServing, NOTICE_MS).catch(() =>
    complaints.push(`${process.name} did not serve after its clock was right again`),
  );
}

async function restartRedis({ stores }: ChaosCluster, random: Random, empty: boolean): Promise<void> {
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

/** Restarts the processes one after the other, so that at least one is always up. */
async function restartAll(
  { processes }: ChaosCluster,
  output: (process: ChaosProcess) => string,
): Promise<void> {
  for (const process of processes) await process.restartWith(output(process));
}

function aWhile(random: Random): Promise<void> {
  return sleep(random.between(3_000, 5_000));
}
