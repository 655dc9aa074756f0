import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import { deliver } from '../support/deliveries.mts';
import type { Deployment } from '../support/deployment.mts';
import { itemAt } from '../support/items.mts';
import { absoluteRow, megabytes, type Row } from '../support/report.mts';
import { residentMb } from '../support/usage.mts';

const GOAL_MB = 180;
/** Highest ratio of the worker's memory after all deliveries to its memory after half of them. */
const FLAT = 1.05;
const IDLE_AFTER_MS = 3_000;
const PARTS = 10;

/**
 * Measures the resident memory of an API process and a worker at rest, and of the worker after many
 * deliveries.
 */
export const memory: Scenario = {
  name: 'memory',

  async run({ plan, small, progress }) {
    const deployment = await small();
    const rows: Row[] = [];
    for (const role of ['api', 'worker'] as const) {
      const { pid } = await deployment.startService(role);
      await sleep(IDLE_AFTER_MS);
      rows.push(absoluteRow(`memory at rest, ${role}`, [residentMb(pid)], megabytes, GOAL_MB));
      if (role === 'worker')
        rows.push(...(await underWork(deployment, pid, plan.memory.deliveries, progress)));
    }
    return rows;
  },
};

async function underWork(
  deployment: Deployment,
  pid: number,
  deliveries: number,
  progress: (line: string) => void,
): Promise<Row[]> {
  const held: number[] = [];
  for (let part = 1; part <= PARTS; part++) {
    await deliver(deployment, { pid }, Math.ceil(deliveries / PARTS));
    held.push(residentMb(pid));
    progress(`${megabytes(itemAt(held, -1))} after ${(part * deliveries) / PARTS} deliveries`);
    await deployment.clearEvents();
  }
  const [half, end] = [itemAt(held, PARTS / 2 - 1), itemAt(held, -1)];
  return [
    absoluteRow(`memory after ${deliveries} deliveries, worker`, [end], megabytes, GOAL_MB),
    {
      scenario: `memory after ${deliveries} deliveries, against half of them`,
      ours: megabytes(end),
      limit: megabytes(half),
      ratio: end / half,
      goal: `≤ ${FLAT}`,
      met: end / half <= FLAT,
      runs: held,
    },
  ];
}
