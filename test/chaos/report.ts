import { markdownTable } from '../support/report';
import { ChaosCluster } from './cluster';
import { Episode } from './scenario';

const COLUMNS = [
  'Fault',
  'Lasted',
  'First new delivery',
  'Caught up',
  'Duplicates',
  'Messages',
  'Deliveries',
  'Witness p95',
] as const;

/** Returns a Markdown table of the run. */
export function tableOf(episodes: readonly Episode[]): string {
  const rows = episodes.map((episode) => [
    episode.fault,
    seconds(episode.lastedMs),
    seconds(episode.recoveredMs),
    seconds(episode.caughtUpMs),
    String(episode.duplicates),
    String(episode.messages),
    String(episode.deliveries),
    episode.witnessP95Ms === null ? '-' : `${episode.witnessP95Ms} ms`,
  ]);
  return markdownTable(COLUMNS, rows);
}

export function summaryOf(
  { ledger, client, reads, usage, processes, neighbours, notes }: ChaosCluster,
  outcomes: Readonly<Record<string, number>>,
  notStruck: Iterable<string>,
): string {
  const deliveries = Object.entries(outcomes).map(([status, count]) => `${count} ${status.toLowerCase()}`);
  const stops = processes.filter((process) => process.stops.length > 0);
  const peaks = [...usage.memory.peaks].map(
    ([name, mib]) => `${name} ${mib} MB (${usage.memory.latest.get(name)} in the end)`,
  );
  const nearby = neighbours.all.map((neighbour) => neighbour.ledger);
  return [
    `${ledger.promised.size} messages answered with 201 (${client.retries.length} requests sent again), ` +
      `${ledger.accepted.length} deliveries accepted, ${ledger.duplicates} duplicates`,
    `Deliveries: ${deliveries.join(', ')}`,
    `Neighbours: ${sum(nearby.map(({ promised }) => promised.size))} messages, ` +
      `${sum(nearby.map(({ accepted }) => accepted.length))} deliveries accepted, ` +
      `${sum(nearby.map(({ duplicates }) => duplicates))} duplicates`,
    `Reads: ${reads.answered} answered, the slowest in ${reads.slowestMs} ms; ${reads.unavailable} not, ` +
      'while their process or PostgreSQL was away',
    `SIGTERM ended with: ${stops.map((process) => `${process.name} ${process.stops.join(' ')}`).join(', ')}`,
    `Memory at most: ${peaks.join(', ')}`,
    ...notes.map((note) => `Measured: ${note}`),
    ...[...notStruck].map((fault) => `Not struck: ${fault}`),
  ].join('\n');
}

export function describeEpisode({ fault, recoveredMs, caughtUpMs, witnessP95Ms }: Episode): string {
  return `${fault}: first new delivery after ${seconds(recoveredMs)}, caught up after ${seconds(caughtUpMs)}, witness p95 ${witnessP95Ms} ms`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
