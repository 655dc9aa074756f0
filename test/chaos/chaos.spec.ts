import { rmSync } from 'node:fs';
import { contradictions } from '../support/integrity';
import { itOnLinux } from '../support/left-out';
import { print } from '../support/report';
import { waitFor } from '../support/wait';
import { ChaosCluster } from './cluster';
import { FULL, only, SHORT } from './plans';
import { Random } from './random';
import { STEADY, STRUCK } from './receivers';
import { describeEpisode, summaryOf, tableOf } from './report';
import { ChaosScenario } from './scenario';
import { deliveriesByStatus, pending, succeededDeliveries } from './tables';

const isFull = process.env.CHAOS === 'full';
const plan = process.env.FAULT ? only(process.env.FAULT) : isFull ? FULL : SHORT;
const seed = process.env.SEED ? Number(process.env.SEED) : Math.floor(Math.random() * 1_000_000);

const RUN_MS = isFull ? 1_800_000 : 240_000;
/** Time for deliveries to finish: the contract's retries take 62 s of backoff and six attempts of 10 s. */
const SETTLE_MS = 150_000;
const MAX_RECOVERY_MS = 30_000;
const MAX_MEMORY_MB = 600;
/** Number of entries that are shown of a kind that has many. */
const SHOWN = 20;

/**
 * Kills, disconnects, freezes and starves parts of a cluster under load: processes of the service,
 * PostgreSQL, Redis, receivers, a name server, the logs' disk. `npm run test:chaos` runs all faults, SEED=…
 * repeats a run's choices, and FAULT=… selects one fault by name. WORKERS=1 runs one worker instead of two.
 */
describe(`Chaos (SEED=${seed})`, () => {
  const random = new Random(seed);
  let cluster: ChaosCluster;
  let scenario: ChaosScenario;
  let outcomes: Record<string, number>;
  let hasSettled = false;

  beforeAll(async () => {
    cluster = await ChaosCluster.start(plan, random.stream('cluster'));
    scenario = new ChaosScenario(cluster, random.stream('scenario'), (episode) => {
      if (isFull) print(describeEpisode(episode));
    });
    try {
      await scenario.run(plan);
      await cluster.stopClients();
      cluster.receivers.get('hopeless')?.cure();
      await waitFor('every delivery to end', async () => (await pending(cluster.stores)) === 0, SETTLE_MS);
      hasSettled = true;
    } finally {
      outcomes = await deliveriesByStatus(cluster.stores, cluster.workspaceIds);
      print(
        `\nChaos, SEED=${seed}\n\n${tableOf(scenario.episodes)}\n\n${summaryOf(cluster, outcomes, scenario.notStruck)}\n`,
      );
      for (const { name, how, log } of deaths()) print(`${name} ended by itself (${how}):\n${log}\n`);
    }
  }, RUN_MS);

  afterAll(async () => {
    await cluster.stop();
    if (hasSettled && complaints().length === 0) rmSync(cluster.logFolder, { recursive: true });
    else print(`The processes' logs are in ${cluster.logFolder}`);
  }, 60_000);

  const deaths = () => cluster.processes.flatMap((process) => process.deaths);
  const complaints = () => [
    ...deaths(),
    ...cluster.client.unexpected,
    ...cluster.reads.unexplained,
    ...cluster.complaints,
    ...cluster.neighbours.missing(),
    ...cluster.neighbours.sentToGone(),
  ];

  it('was under load', () => {
    expect(cluster.ledger.promised.size).toBeGreaterThan(50);
    expect(cluster.reads.answered).toBeGreaterThan(20); // most fail while the database is down
  });

  it('delivered every message that was answered with 201 to every receiver that could receive', () => {
    expect(cluster.ledger.missing([...STEADY, ...STRUCK])).toEqual([]);
  });

  it('delivered every message of a neighbour to each endpoint that was not gone', () => {
    expect(cluster.neighbours.missing().slice(0, SHOWN)).toEqual([]);
  });

  it('sent nothing to an endpoint after it was gone, and nothing that it was owed before', () => {
    expect(cluster.neighbours.sentToGone().slice(0, SHOWN)).toEqual([]);
  });

  it('stored each message once, however often its request was sent', async () => {
    const [row] = await cluster.stores.query<{ messages: number; bodies: number }>(
      'SELECT count(*)::integer AS messages, count(DISTINCT body)::integer AS bodies FROM messages',
    );
    const { begun } = cluster.client;
    expect(row).toEqual({ messages: begun, bodies: begun });
    expect(cluster.ledger.promised.size).toBe(cluster.load.begun);
  });

  it('left no delivery pending', () => {
    const { SUCCEEDED = 0, EXHAUSTED = 0, CANCELLED = 0 } = outcomes;
    expect(outcomes.PENDING).toBeUndefined();
    expect(SUCCEEDED + EXHAUSTED + CANCELLED).toBe(cluster.ledger.promised.size * plan.receivers.length);
  });

  it('left no rows that contradict each other', async () => {
    expect(await contradictions((sql) => cluster.stores.query(sql))).toEqual([]);
  });

  it('recorded a success for each delivery that was accepted, and for no other', async () => {
    const { ledger, neighbours, stores } = cluster;
    const succeeded = await succeededDeliveries(stores);
    const idsOf = (arrivals: { deliveryId: string }[]) => arrivals.map(({ deliveryId }) => deliveryId);
    const required = new Set([
      ...idsOf(ledger.accepted),
      ...neighbours.all.flatMap((neighbour) => idsOf(neighbour.acceptedAlways())),
    ]);
    const allowed = new Set([
      ...idsOf(ledger.accepted),
      ...neighbours.all.flatMap((neighbour) => idsOf(neighbour.ledger.accepted)),
    ]);
    expect([...required].filter((id) => !succeeded.has(id)).slice(0, SHOWN)).toEqual([]);
    expect([...succeeded].filter((id) => !allowed.has(id)).slice(0, SHOWN)).toEqual([]);
  });

  it('recovered from each fault within 30 s', () => {
    const late = scenario.episodes.filter(
      ({ recoveredMs, caughtUpMs }) => Math.max(recoveredMs, caughtUpMs) > MAX_RECOVERY_MS,
    );
    expect(late).toEqual([]);
  });

  it('answered every client according to the contract', () => {
    expect(cluster.client.unexpected).toEqual([]);
    expect(cluster.reads.unexplained).toEqual([]);
  });

  it('let no process serve that must not', () => {
    expect(cluster.complaints).toEqual([]);
  });

  it('lost no process that the suite did not kill', () => {
    expect(deaths()).toEqual([]);
  });

  itOnLinux('/proc', 'let no process grow without bound', () => {
    const large = [...cluster.usage.memory.peaks].filter(([, mib]) => mib > MAX_MEMORY_MB);
    expect(large).toEqual([]);
  });
});
