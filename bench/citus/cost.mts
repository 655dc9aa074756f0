import { sleep } from '../../scripts/processes.mjs';
import { inTurn, middle } from '../support/measure.mts';
import { number } from '../support/report.mts';
import { postMessages } from './latency.mts';
import type { Plan } from './plan.mts';
import { processorUse } from './processor.mts';
import type { RunningSide } from './side.mts';

const isNode = (name: string) => name.startsWith('node ');
/** Processes that a row of the table adds up. */
const PARTS: Record<string, (name: string) => boolean> = {
  API: (name) => name === 'API',
  worker: (name) => name === 'worker',
  Redis: (name) => name === 'Redis',
  coordinator: (name) => name === 'coordinator',
  'all nodes': isNode,
  'all of PostgreSQL': (name) => name === 'PostgreSQL' || name === 'coordinator' || isNode(name),
};

/** Measures the processor time of a message, its delivery and a second at rest, on both sides in turn. */
export async function measureCost(sides: RunningSide[], { warmUpSeconds, cost }: Plan): Promise<string[][]> {
  const measure = async (side: RunningSide) => {
    const rest = await processorUse(side.clocks, () => sleep(cost.restSeconds * 1000));
    /**
     * Returns the microseconds of a part for one message, beyond the microseconds of the same time at rest.
     */
    const load = async (group: 'quiet' | 'live') => {
      let accepted = 0;
      const { cores, seconds } = await processorUse(side.clocks, async () => {
        ({ accepted } = await postMessages(side, group, cost));
      });
      return (name: string) => ((cores[name]! - rest.cores[name]!) * seconds * 1e6) / accepted;
    };
    const quiet = await load('quiet');
    const live = await load('live');
    return {
      'a message': quiet,
      'its delivery': (name: string) => live(name) - quiet(name),
      'a second at rest': (name: string) => rest.cores[name]! * 1e6,
    };
  };
  for (const side of sides) await postMessages(side, 'live', { ...cost, seconds: warmUpSeconds });
  const runs = await inTurn(
    cost.rounds,
    Object.fromEntries(sides.map((side) => [side.name, () => measure(side)])),
  );
  return (['a message', 'its delivery', 'a second at rest'] as const).flatMap((title) =>
    Object.entries(PARTS).map(([part, isPart]) => {
      const figures = sides.map(({ name, clocks }) => {
        const parts = Object.keys(clocks).filter(isPart);
        const sum = middle(runs, (run) => parts.reduce((us, each) => us + run[name]![title](each), 0));
        return parts.length > 0 ? number(sum) : '';
      });
      return [`${title}: ${part}`, ...figures];
    }),
  );
}
