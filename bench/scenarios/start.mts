import type { Scenario } from '../scenario.mts';
import { absoluteRow, ms, type Row } from '../support/report.mts';

const GOAL_MS = 2_500;

/** Measures the time from a process's start until it is ready. PostgreSQL and Redis are running already. */
export const start: Scenario = {
  name: 'start',

  async run({ plan, small, progress }) {
    const deployment = await small();
    const rows: Row[] = [];
    for (const role of ['api', 'worker'] as const) {
      progress(role);
      const times: number[] = [];
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
