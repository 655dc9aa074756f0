import { cpus, totalmem } from 'node:os';
import { middle, ratio } from './measure.mjs';
import { median } from './statistics.mjs';

/**
 * One line of the table.
 *
 * @typedef {object} Row
 * @property {string} scenario
 * @property {string} ours
 * @property {string} limit
 * @property {number | null} ratio
 * @property {string} goal
 * @property {boolean | null} met null when there is no goal
 * @property {unknown} runs everything measured
 * @property {string} [error] why there is no figure
 */

export const number = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
export const perSecond = (value) => `${number(value)}/s`;
export const ms = (value) => `${number(value)} ms`;
export const seconds = (value) => `${number(value)} s`;
export const microseconds = (value) => `${number(value)} µs`;
export const share = (value) => `${number(value * 100)} %`;
export const bytes = (value) => `${number(value)} bytes`;
export const megabytes = (value) => `${number(value)} MB`;

/** @returns {Row} the service's share of the limit's throughput */
export function throughputRow(scenario, runs, atLeast) {
  const share = ratio(runs, 'perSecond', ['ours', 'limit']);
  return {
    scenario,
    ours: perSecond(middle(runs, 'ours', 'perSecond')),
    limit: perSecond(middle(runs, 'limit', 'perSecond')),
    ratio: share,
    goal: `≥ ${atLeast}`,
    met: share >= atLeast,
    runs,
  };
}

/** @returns {Row} */
export function latencyRow(scenario, runs, atMost, figure = 'p99', sides = ['ours', 'limit']) {
  const times = ratio(runs, figure, sides);
  return {
    scenario,
    ours: ms(middle(runs, sides[0], figure)),
    limit: ms(middle(runs, sides[1], figure)),
    ratio: times,
    goal: `≤ ${atMost}`,
    met: times <= atMost,
    runs: null, // they are in the row of the throughput
  };
}

/** @returns {Row} a figure with a fixed goal or none */
export function absoluteRow(scenario, values, format, atMost = null) {
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

const COLUMNS = [
  ['Scenario', ({ scenario }) => scenario],
  ['Ours', ({ ours }) => ours],
  ['Limit', ({ limit }) => limit],
  ['Ratio', (row) => (row.ratio === null ? '' : row.ratio.toFixed(2))],
  ['Goal', ({ goal }) => goal],
  ['', ({ met, error }) => (error ? 'WRONG' : met === null ? '' : met ? 'met' : 'missed')],
];

/** A Markdown table with aligned columns. */
export function table(/** @type {Row[]} */ rows) {
  const lines = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, n) => Math.max(3, ...lines.map((line) => line[n].length)));
  const isLeft = (n) => n === 0 || n === COLUMNS.length - 1;
  const format = (line) =>
    `| ${line.map((cell, n) => (isLeft(n) ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, n) => (isLeft(n) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [format(lines[0]), rule, ...lines.slice(1).map(format)].join('\n');
}

export async function machineOf(environment) {
  const { rows } = await environment.admin.query('SHOW server_version');
  return {
    cpu: cpus()[0].model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    postgresql: rows[0].server_version,
    redis: await environment.redisVersion(),
  };
}

export function describeMachine({ cpu, cores, memoryGiB, node, postgresql, redis }) {
  return `${cores} × ${cpu}, ${memoryGiB} GiB; Node ${node}, PostgreSQL ${postgresql}, Redis ${redis}`;
}
