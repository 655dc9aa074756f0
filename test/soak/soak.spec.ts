import { rmSync, writeFileSync } from 'node:fs';
import { Random } from '../chaos/random';
import { deliveriesByStatus, pending } from '../chaos/tables';
import { contradictions } from '../support/integrity';
import { print } from '../support/report';
import { waitFor } from '../support/wait';
import { KINDS, SoakCluster } from './cluster';
import { ExpiredRows } from './expired-rows';
import { lineOf, mb, median, Minute, QUEUES, slope } from './minutes';
import { pictureOf } from './picture';
import { MINUTES, Timetable } from './timetable';

const length = Number(process.env.SOAK_MINUTES ?? 60);
const perSecond = Number(process.env.SOAK_RATE ?? 100);
const minuteMs = (length * 60_000) / MINUTES;

/** Time for deliveries to finish: backlogs of a hanging tenth, and retries with 62 s of backoff. */
const SETTLE_MS = 180_000;
/** Time for a worker that has just started to detach and drop the last expired days of the history. */
const RETAINED_MS = 60_000;
const MAX_LATER = 1.2;
const MAX_MEMORY_MB_AN_HOUR = 5;
/**
 * Length from which memory is judged: V8 grows its heap for the first minutes, and a slope an hour from less
 * time says nothing.
 */
const MEMORY_FROM_MINUTES = 30;
/** Growth of a queue table that is no growth: a few steps in which PostgreSQL extends and vacuums. */
const MAX_LARGER = 1.2;
const SLACK_MB = 1;
/**
 * Bytes for each message of the snapshot's time that a table may stay larger afterwards: vacuum frees the
 * pages of its indexes for new rows, but never makes the files smaller. An entry has 48 bytes, and pages are
 * half full after they were split.
 */
const INDEX_BYTES = 96;

/**
 * Runs the service under a steady load: an hour at 100 messages a second, or SOAK_MINUTES and SOAK_RATE. The
 * timetable is that of the hour, scaled to the length: a "minute" is a sixtieth of it. One tenth of the
 * endpoints hangs at any time, a snapshot is held from minute 20 to 40, and every five minutes the second
 * process of each kind is restarted and the retention gets work. SOAK_PICTURE=… names a file for the curve.
 */
describe(`Soak (${length} minutes at ${perSecond} messages a second)`, () => {
  let cluster: SoakCluster;
  let expired: ExpiredRows;
  let minutes: Minute[];
  let outcomes: Record<string, number>;

  beforeAll(
    async () => {
      cluster = await SoakCluster.start(perSecond, new Random(1));
      expired = new ExpiredRows(cluster.stores);
      const timetable = new Timetable(cluster, expired, minuteMs);
      ({ minutes } = timetable);
      await timetable.run((minute, number) => print(lineOf(minute, number)));
      await cluster.load.stop();
      await waitFor('every delivery to end', async () => (await pending(cluster.stores)) === 0, SETTLE_MS);
      await cluster.restart();
      timetable.finish();
      outcomes = await deliveriesByStatus(cluster.stores, workspaceIds());
      print(summary());
      if (process.env.SOAK_PICTURE) writeFileSync(process.env.SOAK_PICTURE, pictureOf(minutes, length));
    },
    length * 60_000 + 600_000,
  );

  afterAll(async () => {
    await cluster.stop();
    if (deaths().length === 0) rmSync(cluster.logFolder, { recursive: true });
    else print(`The processes' logs are in ${cluster.logFolder}`);
  }, 60_000);

  const groups = () => Object.values(cluster.groups);
  const workspaceIds = () => groups().flatMap((group) => group.workspaceIds);
  const deaths = () => cluster.processes.flatMap((process) => process.deaths);
  const promised = () => groups().reduce((sum, { ledger }) => sum + ledger.promised.size, 0);
  const quietP95 = (from: number, to: number) =>
    median(
      minutes
        .slice(from, to)
        .filter(({ hasRestart }) => !hasRestart)
        .map(({ p95Ms }) => p95Ms),
    );
  const early = () => quietP95(5, 25);
  const late = () => quietP95(40, MINUTES);
  const memoryAnHour = (kind: (typeof KINDS)[number]) =>
    slope(minutes.slice(MINUTES / 5).map(({ memoryMb }) => memoryMb[kind])) * (MINUTES / (length / 60));
  const queueMb = (table: (typeof QUEUES)[number], from: number, to: number) =>
    median(minutes.slice(from, to).map(({ queueBytes }) => mb(queueBytes[table])));
  const summary = () =>
    [
      `\n${promised()} messages answered with 201, ${cluster.client.retries.length} requests sent again, deliveries: ${JSON.stringify(outcomes)}`,
      `median p95: ${early()} ms in minutes 5 to 25, ${late()} ms in the last third`,
      ...KINDS.map((kind) => `memory, ${kind}: ${memoryAnHour(kind).toFixed(1)} MB an hour`),
      ...QUEUES.map(
        (table) =>
          `${table}: ${queueMb(table, 0, 20).toFixed(1)} MB in the first third, ${queueMb(table, 40, MINUTES).toFixed(1)} MB in the last`,
      ),
    ].join('\n');

  it('kept its rate', () => {
    expect(promised()).toBeGreaterThan(0.99 * perSecond * length * 60);
    expect(cluster.client.unexpected).toEqual([]);
  });

  it('lost no message of an endpoint that always answers', () => {
    expect(cluster.groups.answering.missing()).toHaveLength(0);
  });

  it('lost no message of an endpoint that hangs at times, except by the last attempt', () => {
    const { even, odd } = cluster.groups;
    const { EXHAUSTED = 0 } = outcomes;
    expect([...even.missing(), ...odd.missing()].length).toBeLessThanOrEqual(EXHAUSTED);
    expect(outcomes).toEqual({ SUCCEEDED: promised() - EXHAUSTED, ...(EXHAUSTED > 0 && { EXHAUSTED }) });
  });

  it('kept nothing that has expired', async () => {
    await waitFor('the retention', async () => (await expired.count()) === 0, RETAINED_MS);
  }, 120_000);

  it('left no rows that contradict each other', async () => {
    expect(await contradictions((sql) => cluster.stores.query(sql))).toEqual([]);
  });

  it('was no slower in the last third', () => {
    expect(late()).toBeLessThanOrEqual(MAX_LATER * early());
  });

  it('used no more and more memory', () => {
    for (const kind of KINDS)
      if (length >= MEMORY_FROM_MINUTES)
        expect([kind, memoryAnHour(kind) <= MAX_MEMORY_MB_AN_HOUR]).toEqual([kind, true]);
  });

  it.each(QUEUES)('kept the size of %s', (table) => {
    const heldBack = mb(((perSecond * length * 60) / 3) * INDEX_BYTES);
    const limit = MAX_LARGER * queueMb(table, 0, 20) + SLACK_MB + heldBack;
    expect(queueMb(table, 40, MINUTES)).toBeLessThanOrEqual(limit);
  });

  it('lost no process that the suite did not restart', () => {
    expect(deaths()).toEqual([]);
    expect(cluster.processes.flatMap(({ stops }) => stops).filter((code) => code !== 0)).toEqual([]);
  });
});
