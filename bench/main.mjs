// `npm run bench`: compares the service with its limits, and prints one table.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LauncherError, printFault, untilStopped } from '../scripts/processes.mjs';
import { deliveries } from './scenarios/deliveries.mjs';
import { deleteBacklog } from './scenarios/delete-backlog.mjs';
import { flood } from './scenarios/flood.mjs';
import { growingReads } from './scenarios/growing-reads.mjs';
import { history } from './scenarios/history.mjs';
import { isolation } from './scenarios/isolation.mjs';
import { latency } from './scenarios/latency.mjs';
import { manyWorkspaces } from './scenarios/many-workspaces.mjs';
import { memory } from './scenarios/memory.mjs';
import { reads } from './scenarios/reads.mjs';
import { recover } from './scenarios/recover.mjs';
import { redisAway } from './scenarios/redis-away.mjs';
import { scaling } from './scenarios/scaling.mjs';
import { sendMessage } from './scenarios/send-message.mjs';
import { shares } from './scenarios/shares.mjs';
import { start } from './scenarios/start.mjs';
import { tarpits } from './scenarios/tarpits.mjs';
import { FULL, QUICK } from './support/plan.mjs';
import { describeMachine, machineOf, table } from './support/report.mjs';
import { Environment } from './support/environment.mjs';

const SCENARIOS = [
  start,
  reads,
  sendMessage,
  deliveries,
  manyWorkspaces,
  latency,
  isolation,
  growingReads,
  scaling,
  memory,
  flood,
  tarpits,
  deleteBacklog,
  recover,
  history,
  redisAway,
  shares,
];
const HEAVY = SCENARIOS.filter(({ heavy }) => heavy).map(({ name }) => name);
const NAMES = SCENARIOS.flatMap(({ name, parts = [] }) => [name, ...parts]);

const USAGE = `usage: npm run bench -- [options]

  --quick              measure less, on less data: rough figures in 90 seconds
  --only NAME          run only this scenario; may be repeated
  --seconds N          duration of each load of requests
  --deliveries N       number of deliveries of memory, delete-backlog, recover and history
  --json FILE          write all measurements to a file
  --profile FOLDER     write a CPU profile of each measured process; this slows the processes down

Scenarios: ${NAMES.join(', ')}
Only on request: ${HEAVY.join(', ')}
`;

/**
 * @typedef {object} Bench
 * @property {typeof FULL} plan
 * @property {Environment} environment
 * @property {() => Promise<import('./support/environment.mjs').Deployment>} small for all scenarios but growth
 * @property {() => Promise<import('./support/environment.mjs').Deployment>} large
 * @property {(part: string) => boolean} wants whether to run this part of the scenario
 * @property {(line: string) => void} progress
 */

/** @type {Environment | undefined} */
let environment;
/** After an interruption, failures are expected. */
let interrupted = false;

async function run() {
  const options = readOptions();
  const { quick, json, profile, help } = options;
  if (help) return console.log(USAGE);
  const log = (line) => process.stderr.write(`${line}\n`);
  environment = await Environment.start(log);
  if (profile) environment.nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`];
  const machine = await machineOf(environment);
  const rows = [];
  for (const scenario of SCENARIOS.filter(isWanted(options)))
    rows.push(...(await runScenario(scenario, planOf(options), environment, options.only, log)));
  console.log(`${table(rows)}\n\n${describeMachine(machine)}${quick ? '; --quick' : ''}`);
  for (const { scenario, error } of rows.filter((row) => row.error)) console.error(`\n${scenario}: ${error}`);
  if (json) writeFileSync(json, `${JSON.stringify({ at: new Date(), quick, machine, rows }, null, 2)}\n`);
  if (rows.some((row) => row.error)) process.exitCode = 1;
}

const isWanted =
  ({ only }) =>
  ({ name, parts = [], heavy = false }) =>
    only ? [name, ...parts].some((wanted) => only.includes(wanted)) : !heavy;

function planOf({ quick, seconds, deliveries }) {
  const plan = quick ? QUICK : FULL;
  return {
    ...plan,
    httpSeconds: seconds ?? plan.httpSeconds,
    ...(deliveries && {
      memory: { deliveries },
      backlog: { deliveries },
      recover: { events: deliveries },
      history: { ...plan.history, oldDeliveries: deliveries },
    }),
  };
}

/** @returns {Promise<import('./support/report.mjs').Row[]>} a row without figures if it failed */
async function runScenario(scenario, plan, environment, only, log) {
  const startedAt = performance.now();
  const progress = (line) => log(`${scenario.name}: ${line}`);
  try {
    return await scenario.run({
      plan,
      environment,
      progress,
      wants: (part) => !only || only.includes(scenario.name) || only.includes(part),
      small: () => environment.deployment('small', plan.small),
      large: () => environment.deployment('large', plan.large),
    });
  } catch (error) {
    if (interrupted) throw error;
    return [{ ...NO_FIGURE, scenario: scenario.name, error: error.stack }];
  } finally {
    await environment.stopProcesses();
    progress(`took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
}

const NO_FIGURE = { ours: '', limit: '', ratio: null, goal: '', met: false, runs: null };

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true },
        seconds: { type: 'string' },
        deliveries: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    const unknown = values.only?.find((name) => !NAMES.includes(name));
    if (unknown) throw new Error(`There is no scenario "${unknown}".`);
    return { ...values, seconds: numberOf(values, 'seconds'), deliveries: numberOf(values, 'deliveries') };
  } catch (error) {
    throw new LauncherError(`${error.message}\n\n${USAGE}`);
  }
}

function numberOf(values, name) {
  if (values[name] === undefined) return undefined;
  const number = Number(values[name]);
  if (number > 0) return number;
  throw new Error(`--${name} must be a number above 0.`);
}

async function untilInterrupted() {
  await untilStopped();
  interrupted = true;
  throw new LauncherError('Interrupted: there are no figures.');
}

try {
  await Promise.race([run(), untilInterrupted()]);
} catch (error) {
  printFault(error);
  process.exitCode = 1;
}
await environment?.stop();
process.exit();
