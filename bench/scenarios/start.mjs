import { absoluteRow, ms } from '../support/report.mjs';

const GOAL_MS = 2_500;

/** Time from a process's start until it is ready. The database runs already. */
export const start = {
  name: 'start',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, progress }) {
    const deployment = await small();
    const rows = [];
    for (const role of /** @type {const} */ (['api', 'worker'])) {
      progress(role);
      const times = [];
      for (let n = 0; n < plan.starts; n++) {
        const { startMs, stop } = await deployment.startService(role);
        times.push(startMs);
        await stop();
      }
      rows.push(absoluteRow(`start until ready, ${role}`, times, ms, GOAL_MS));
    }
    return rows;
  },
};
