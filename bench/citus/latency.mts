import { ApiCallers } from '../support/api-callers.mts';
import { untilRecorded } from '../support/deliveries.mts';
import { itemAt } from '../support/items.mts';
import { putUnderLoad } from '../support/load.mts';
import { inTurn, middle, must } from '../support/measure.mts';
import { ms } from '../support/report.mts';
import { latencyOf, type Percentiles } from '../support/statistics.mts';
import type { Plan } from './plan.mts';
import type { RunningSide, Side } from './side.mts';

const CALLERS = 8;
const PAGE = 50;
const NAMES = {
  me: 'a read by key (`GET /me`)',
  page: `a page of ${PAGE} conversations`,
  answers: 'a message sent',
  arrivals: 'from its request to its webhook',
};

/**
 * Measures how long requests and deliveries take at low load, on both sides in turn. Reads come one after the
 * other.
 */
export async function measureLatency(
  sides: RunningSide[],
  { warmUpSeconds, reads }: Plan,
): Promise<string[][]> {
  const measure = async (side: RunningSide, readSeconds: number, messageSeconds: number) => {
    const { apiKey, conversationIds } = itemAt(side.senders.live, 0);
    const cursors = conversationIds.filter((_, n) => n >= PAGE && n % PAGE === 0);
    const read = (queries: string[]) =>
      putUnderLoad(side.api, {
        requests: queries.map((query) => ({ path: `/api/v1/${query}` })),
        headers: { authorization: `Bearer ${apiKey}` },
        connections: 1,
        seconds: readSeconds,
      });
    const me = await read(['me']);
    const page = await read(['conversations', ...cursors.map((id) => `conversations?cursor=${id}`)]);
    const rate = { perSecond: reads.perSecond, seconds: messageSeconds };
    return { me, page, ...(await postMessages(side, 'live', rate)) };
  };
  const measures = (readSeconds: number, messageSeconds: number) =>
    Object.fromEntries(sides.map((side) => [side.name, () => measure(side, readSeconds, messageSeconds)]));
  await inTurn(1, measures(1, warmUpSeconds));
  const runs = await inTurn(reads.rounds, measures(reads.seconds, reads.messageSeconds));
  return Object.entries(NAMES).flatMap(([key, title]) =>
    (['p50', 'p95'] as const).map((rank) => {
      const figureOf = ({ name }: Side) => middle(runs, (run) => run[name]![key as keyof typeof NAMES][rank]);
      const [one, citus] = sides.map(figureOf) as [number, number];
      return [`${title}, ${rank}`, ms(one), ms(citus), (citus / one).toFixed(2)];
    }),
  );
}

/** Messages that were posted at a steady rate, the times of their answers, and of their webhooks if any. */
interface Posted {
  accepted: number;
  answers: Percentiles;
  arrivals: Percentiles;
}

/** Posts messages of workspaces, and waits until each has been delivered and nothing is left to do. */
export async function postMessages(
  { deployment, senders: groups, api }: RunningSide,
  group: 'quiet' | 'live',
  rate: { perSecond: number; seconds: number },
): Promise<Posted> {
  const { receiver } = deployment.environment;
  const senders = groups[group];
  await receiver.expect(senders);
  const since = await deployment.now();
  const callers = new ApiCallers(api.url, senders, CALLERS);
  const answers = await callers.offer(rate);
  await callers.close();
  must(answers.refused === 0, `${answers.refused} messages were refused`);
  const deliveries = group === 'live' ? answers.accepted : 0;
  const times = await receiver.take(deliveries);
  await untilRecorded(deployment, senders, since, deliveries);
  return { accepted: answers.accepted, answers, arrivals: latencyOf(times) };
}
