import { ApiCallers, type Answers } from '../support/api-callers.mts';
import { untilRecorded } from '../support/deliveries.mts';
import { inTurn, middle } from '../support/measure.mts';
import { number, share as percent } from '../support/report.mts';
import type { Plan } from './plan.mts';
import { hold, processorUse } from './processor.mts';
import { startSide, type Side } from './side.mts';

/** Settings with so many connections that each node always has a statement to run. */
const ENV = { DATABASE_POOL_SIZE: '60' };
/**
 * Share (0 to 1) of a part's processor time from which on the part counts as the limit. A held server seldom
 * gets the last of its share.
 */
const USED_UP = 0.8;
const GOALS: Record<number, number> = { 2: 1.7, 3: 2.4 };
/** Parts that are not held. */
const OTHERS = ['coordinator', 'API', 'worker', 'load generator'];

export const COLUMNS = [
  'Messages a second',
  '× one node',
  'Goal',
  'Cores of each held server',
  ...OTHERS,
  'idle',
  'Refused',
  'Events left',
  'Limit',
];

const heldServers = ({ servers }: Side) => (servers.length === 1 ? servers : servers.slice(1));

/**
 * Measures how many messages a second, without a webhook, each side takes while each server but the
 * coordinator is held to a share of one core.
 *
 * @returns null where this machine can't hold a server
 */
export async function measureNodes(
  sides: Side[],
  { nodes: { rounds, seconds, callers }, warmUpSeconds }: Plan,
  share: number,
  log: (line: string) => void,
): Promise<string[][] | null> {
  const holdAll = (side: Side, to: number | null) => heldServers(side).every(({ pid }) => hold(pid, to));
  if (!sides.every((side) => holdAll(side, null))) return null;
  const measure = async (side: Side) => {
    const { deployment, senders } = side;
    const { api, clocks } = await startSide(side, ENV);
    const since = await deployment.now();
    const posting = new ApiCallers(api.url, senders.quiet, callers);
    holdAll(side, share);
    await posting.saturate(callers, warmUpSeconds);
    let answers: Answers | undefined;
    const use = await processorUse(clocks, async () => {
      answers = await posting.saturate(callers, seconds);
    });
    holdAll(side, null);
    const { left } = await deployment.queryOne<{ left: number }>(
      'SELECT count(*)::int AS left FROM event_queue',
    );
    await posting.close();
    await untilRecorded(deployment, senders.quiet, since, 0);
    await deployment.environment.stopProcesses();
    const { accepted, refused } = answers!;
    const perSecond = accepted / use.seconds;
    log(`${side.name}: ${number(perSecond)} messages a second`);
    return { ...use, refused, left, perSecond };
  };
  const measures = sides.map((side) => [side.name, () => measure(side)] as const);
  const runs = await inTurn(rounds, Object.fromEntries(measures));
  const oneNode = sides.find(({ servers }) => servers.length === 2)!;
  return sides.map((side) => {
    const figure = (of: (one: (typeof runs)[number][string]) => number) =>
      middle(runs, (run) => of(run[side.name]!));
    const cores = (name: string) => figure((one) => one.cores[name] ?? 0);
    const times = middle(runs, (run) => run[side.name]!.perSecond / run[oneNode.name]!.perSecond);
    const goal = GOALS[side.servers.length - 1];
    const held = heldServers(side).map(({ name }) => cores(name));
    const idle = figure((one) => one.idle);
    return [
      side.name,
      number(figure(({ perSecond }) => perSecond)),
      times.toFixed(2),
      goal ? `≥ ${goal}: ${times >= goal ? 'met' : 'missed'}` : '',
      held.map(number).join(', '),
      ...OTHERS.map((name) => number(cores(name))),
      percent(idle),
      number(figure(({ refused }) => refused)),
      number(figure(({ left }) => left)),
      limitOf(
        held.every((used) => used >= USED_UP * share),
        OTHERS.filter((name) => cores(name) >= USED_UP),
        idle,
      ),
    ];
  });
}

/** Returns the name of the part that limited the number of messages. */
function limitOf(areHeldUsedUp: boolean, usedUp: string[], idle: number): string {
  if (areHeldUsedUp) return 'held servers';
  if (usedUp.length > 0) return usedUp.join(', ');
  return idle < 1 - USED_UP ? "the machine's cores" : 'waits';
}
