// Compares the service with its limits, and prints one table: `npm run bench`.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LauncherError, runLauncher } from '../scripts/processes.mjs';
import { planOf, readOptions, usageOf, wantedOf } from './options.mts';
import type { Scenario } from './scenario.mts';
import { deliveries } from './scenarios/deliveries.mts';
import { deleteBacklog } from './scenarios/delete-backlog.mts';
import { files } from './scenarios/files.mts';
import { flood } from './scenarios/flood.mts';
import { growingReads } from './scenarios/growing-reads.mts';
import { heldSnapshot } from './scenarios/held-snapshot.mts';
import { history } from './scenarios/history.mts';
import { isolation } from './scenarios/isolation.mts';
import { latency } from './scenarios/latency.mts';
import { manyWorkspaces } from './scenarios/many-workspaces.mts';
import { memory } from './scenarios/memory.mts';
import { perEvent } from './scenarios/per-event.mts';
import { reads } from './scenarios/reads.mts';
import { recover } from './scenarios/recover.mts';
import { recoveries } from './scenarios/recoveries.mts';
import { redisAway } from './scenarios/redis-away.mts';
import { scaling } from './scenarios/scaling.mts';
import { sendMessage } from './scenarios/send-message.mts';
import { shares } from './scenarios/shares.mts';
import { start } from './scenarios/start.mts';
import { subscriptions } from './scenarios/subscriptions.mts';
import { tarpits } from './scenarios/tarpits.mts';
import { Environment } from './support/environment.mts';
import { describeMachine, machineOf } from './support/machine.mts';
import type { Plan } from './support/plan.mts';
import { table, type Row } from './support/report.mts';

const SCENARIOS: Scenario[] = [
  start,
  reads,
  sendMessage,
  deliveries,
  manyWorkspaces,
  latency,
  perEvent,
  subscriptions,
  isolation,
  growingReads,
  scaling,
  memory,
  flood,
  tarpits,
  heldSnapshot,
  deleteBacklog,
  recover,
  recoveries,
  history,
  redisAway,
  files,
  shares,
];
let environment: Environment | undefined;
/** Failures after an interruption are expected. */
let interrupted = false;

async function run() {
  const options = readOptions(SCENARIOS);
  const { quick, json, profile, only, help } = options;
  if (help) return console.log(usageOf(SCENARIOS));
  const log = (line: string) => process.stderr.write(`${line}\n`);
  environment = await Environment.start(log);
  if (profile) environment.nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`];
  const machine = await machineOf(environment);
  const plan = planOf(options);
  const rows: Row[] = [];
  for (const scenario of wantedOf(SCENARIOS, only))
    rows.push(...(await runScenario(scenario, plan, environment, only, log)));
  console.log(`${table(rows)}\n\n${describeMachine(machine)}${quick ? '; --quick' : ''}`);
  for (const { scenario, error } of rows) if (error) console.error(`\n${scenario}: ${error}`);
  if (json) writeFileSync(json, `${JSON.stringify({ at: new Date(), quick, machine, rows }, null, 2)}\n`);
  if (rows.some((row) => row.error)) process.exitCode = 1;
}

/** Returns the rows of a scenario, or a row without figures if it failed. */
async function runScenario(
  scenario: Scenario,
  plan: Plan,
  environment: Environment,
  only: string[] | undefined,
  log: (line: string) => void,
): Promise<Row[]> {
  const startedAt = performance.now();
  const progress = (line: string) => log(`${scenario.name}: ${line}`);
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
    const { stack } = error as Error;
    return [{ ...NO_FIGURE, scenario: scenario.name, error: stack }];
  } finally {
    await environment.stopProcesses();
    progress(`took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
}

const NO_FIGURE = { ours: '', limit: '', ratio: null, goal: '', met: false, runs: null };

function onInterrupt(): never {
  interrupted = true;
  throw new LauncherError('Interrupted: there are no figures.');
}

await runLauncher(run, { stop: () => environment?.stop(), onInterrupt });
