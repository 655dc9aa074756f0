import { sleep } from '../../scripts/processes.mjs';
import { deliver } from '../support/deliveries.mjs';
import { absoluteRow, megabytes } from '../support/report.mjs';
import { residentMb } from '../support/usage.mjs';

const GOAL_MB = 180;
/** The most that memory may grow in the second half of the deliveries. */
const FLAT = 1.05;
const IDLE_AFTER_MS = 3_000;
const PARTS = 10;

/** Memory of the processes, at rest and after many deliveries. */
export const memory = {
  name: 'memory',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, progress }) {
    const deployment = await small();
    const rows = [];
    for (const role of /** @type {const} */ (['api', 'worker'])) {
      const { pid } = await deployment.startService(role);
      await sleep(IDLE_AFTER_MS);
      rows.push(absoluteRow(`memory at rest, ${role}`, [residentMb(pid)], megabytes, GOAL_MB));
      if (role === 'worker')
        rows.push(...(await underWork(deployment, pid, plan.memory.deliveries, progress)));
    }
    return rows;
  },
};

async function underWork(deployment, pid, deliveries, progress) {
  const held = [];
  for (let part = 1; part <= PARTS; part++) {
    await deliver(deployment, Math.ceil(deliveries / PARTS));
    held.push(residentMb(pid));
    progress(`${megabytes(held.at(-1))} after ${(part * deliveries) / PARTS} deliveries`);
    await deployment.clearEvents();
  }
  const [half, end] = [held[PARTS / 2 - 1], held[PARTS - 1]];
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
