import { middle } from './measure.mts';
import { median } from './statistics.mts';

/** Row of the result table: a scenario's figure, the limit's, their ratio and the goal. */
export interface Row {
  scenario: string;
  ours: string;
  limit: string;
  ratio: number | null;
  /** Lowest and highest ratio of the rounds. */
  spread?: [lowest: number, highest: number];
  goal: string;
  /** Whether the goal is met; null without a goal. */
  met: boolean | null;
  /** Measured values of all rounds, for the JSON report; null if another row of the scenario holds them. */
  runs: unknown;
  /** Stack of the error because of which the row has no figure. */
  error?: string;
}

/** Figure of a round: the service's, and the figure that it is compared with. */
export type Pair = [ours: number, limit: number];

/** Function that writes a value with its unit. */
export type Format = (value: number) => string;

export const number: Format = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
export const perSecond: Format = (value) => `${number(value)}/s`;
export const ms: Format = (value) => `${number(value)} ms`;
export const seconds: Format = (value) => `${number(value)} s`;
export const microseconds: Format = (value) => `${number(value)} µs`;
export const share: Format = (value) => `${number(value * 100)} %`;
export const bytes: Format = (value) => `${number(value)} bytes`;
export const megabytes: Format = (value) => `${number(value)} MB`;

/**
 * Returns the row of a throughput a second. The goal is that ours is at least `atLeast` times the limit's.
 */
export function throughputRow(scenario: string, pairs: Pair[], atLeast: number, runs: unknown): Row {
  const share = ratioOf(pairs);
  return {
    scenario,
    ours: perSecond(middle(pairs, ([ours]) => ours)),
    limit: perSecond(middle(pairs, ([, limit]) => limit)),
    ratio: share,
    goal: `≥ ${atLeast}`,
    met: share >= atLeast,
    runs,
  };
}

/**
 * Returns the row of a latency in milliseconds. The goal is that ours is at most `atMost` times the limit's.
 */
export function latencyRow(scenario: string, pairs: Pair[], atMost: number, runs: unknown = null): Row {
  const times = ratioOf(pairs);
  return {
    scenario,
    ours: ms(middle(pairs, ([ours]) => ours)),
    limit: ms(middle(pairs, ([, limit]) => limit)),
    ratio: times,
    goal: `≤ ${atMost}`,
    met: times <= atMost,
    runs,
  };
}

/** Returns the median over the rounds of ours divided by the limit's. */
export function ratioOf(pairs: Pair[]): number {
  return middle(pairs, ([ours, limit]) => ours / limit);
}

/** Returns the lowest and the highest ratio of the rounds. */
export function spreadOf(pairs: Pair[]): [lowest: number, highest: number] {
  const ratios = pairs.map(([ours, limit]) => ours / limit);
  return [Math.min(...ratios), Math.max(...ratios)];
}

/** Returns the row of a figure that is compared with no other: its goal is `atMost`, or none. */
export function absoluteRow(
  scenario: string,
  values: number[],
  format: Format,
  atMost: number | null = null,
): Row {
  const value = median(values);
  return {
    scenario,
    ours: format(value),
    limit: '',
    ratio: null,
    goal: atMost === null ? 'reported' : `≤ ${format(atMost)}`,
    met: atMost === null ? null : value <= atMost,
    runs: values,
  };
}

interface Column {
  title: string;
  isLeft?: boolean;
  cell: (row: Row) => string;
}

const COLUMNS: Column[] = [
  { title: 'Scenario', isLeft: true, cell: ({ scenario }) => scenario },
  { title: 'Ours', cell: ({ ours }) => ours },
  { title: 'Limit', cell: ({ limit }) => limit },
  { title: 'Ratio', cell: ratioText },
  { title: 'Goal', cell: ({ goal }) => goal },
  {
    title: '',
    isLeft: true,
    cell: ({ met, error }) => (error ? 'WRONG' : met === null ? '' : met ? 'met' : 'missed'),
  },
];

function ratioText({ ratio, spread }: Row): string {
  if (ratio === null) return '';
  const text = ratio.toFixed(2);
  return spread ? `${text} (${spread.map((one) => one.toFixed(2)).join('–')})` : text;
}

/** Returns a Markdown table with aligned columns. */
export function table(rows: Row[]): string {
  const columns = COLUMNS.map(({ title, isLeft, cell }) => {
    const cells = [title, ...rows.map(cell)];
    const width = Math.max(3, ...cells.map(({ length }) => length));
    const [heading, ...others] = cells.map((text) => (isLeft ? text.padEnd(width) : text.padStart(width)));
    return [heading, isLeft ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`, ...others];
  });
  const lines = Array.from({ length: rows.length + 2 }, (_, n) => columns.map((column) => column[n]));
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}
