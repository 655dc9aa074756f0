// Measures the service on one PostgreSQL and on Citus, side by side: `npm run bench:citus`. Both have the
// programs in the folder CITUS_PG.
import { parseArgs } from 'node:util';
import { LauncherError, runLauncher } from '../../scripts/processes.mjs';
import { requireCitus } from '../../scripts/servers/citus.mjs';
import { Environment } from '../support/environment.mts';
import { describeMachine, machineOf } from '../support/machine.mts';
import { measureCost } from './cost.mts';
import { measureLatency } from './latency.mts';
import { COLUMNS, measureNodes } from './nodes.mts';
import { FULL, QUICK } from './plan.mts';
import { removeGroups } from './processor.mts';
import { makeSide, startSide } from './side.mts';

const PARTS = ['reads', 'cost', 'nodes'];
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Parts, with commas between them. */
    only: { type: 'string', default: PARTS.join() },
    /** Share of a core that a held server may use. */
    held: { type: 'string', default: '0.3' },
  },
});
const wanted = options.only.split(',');
const plan = options.quick ? QUICK : FULL;
const environments: Environment[] = [];
const log = (line: string) => process.stderr.write(`${line}\n`);

async function run() {
  const unknown = wanted.find((part) => !PARTS.includes(part));
  if (unknown) throw new LauncherError(`There is no part "${unknown}", only ${PARTS.join()}.`);
  const binaries = requireCitus();
  // The servers are this benchmark's own, whatever the environment names.
  for (const name of ['DATABASE_URL', 'DATABASE_OWNER_URL', 'REDIS_URL']) delete process.env[name];
  const plain = await startEnvironment({ binaries });
  const citus = await startEnvironment({ citusWorkers: 3 });
  const one = await makeSide('one PostgreSQL', plain);
  const two = await makeSide('Citus, 2 nodes', citus, 2);
  if (wanted.includes('reads') || wanted.includes('cost')) {
    const sides = [await startSide(one), await startSide(two)];
    const names = sides.map(({ name }) => name);
    if (wanted.includes('reads'))
      print(['At low load', ...names, 'Ratio'], await measureLatency(sides, plan));
    if (wanted.includes('cost'))
      print([`µs at ${plan.cost.perSecond} messages a second`, ...names], await measureCost(sides, plan));
    for (const environment of environments) await environment.stopProcesses();
  }
  if (wanted.includes('nodes')) {
    const held = Number(options.held);
    const [single, three] = [
      await makeSide('Citus, 1 node', citus, 1),
      await makeSide('Citus, 3 nodes', citus, 3),
    ];
    const rows = await measureNodes([one, single, two, three], plan, held, log);
    if (rows) print([`Held to ${held} of a core: all but the coordinator`, ...COLUMNS], rows);
    else console.log('Nodes were not measured: there are no control groups here that hold a server.\n');
  }
  console.log(`${describeMachine(await machineOf(citus))}${options.quick ? '; --quick' : ''}`);
}

async function startEnvironment(options: Parameters<typeof Environment.start>[1]): Promise<Environment> {
  const environment = await Environment.start(log, options);
  environments.push(environment);
  return environment;
}

function print(head: string[], rows: string[][]): void {
  const lines = [head, head.map((_, n) => (n === 0 ? '---' : '---:')), ...rows];
  console.log(`${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}

async function stop() {
  await Promise.all(environments.map((environment) => environment.stop()));
  removeGroups();
}

await runLauncher(run, { stop });
