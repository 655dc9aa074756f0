import { sleep } from '../../scripts/processes.mjs';
import type { Bench, Scenario } from '../scenario.mts';
import { ApiCallers } from '../support/api-callers.mts';
import { untilRecorded } from '../support/deliveries.mts';
import type { Deployment } from '../support/deployment.mts';
import { measureWork, type EventWork } from '../support/event-meter.mts';
import { inTurn, middle } from '../support/measure.mts';
import type { Sender } from '../support/offer-by-api.mts';
import { microseconds, ratioOf, type Pair, type Row } from '../support/report.mts';

const WORKSPACES = 20;

const ROUNDS = 3;

interface Subscription {
  events: string[];
  /** Parts of the context that the endpoint asks for; none by default. */
  context?: string[];
}

/**
 * Subscriptions of a workspace's endpoint; null without one. Each message fails for want of a channel, so an
 * endpoint that takes all events gets two.
 */
const SUBSCRIPTIONS: Record<string, Subscription | null> = {
  'no endpoint': null,
  'message.created': { events: ['message.created'] },
  'message.created with its context': {
    events: ['message.created'],
    context: ['conversation', 'contact', 'sender'],
  },
  'message.created and message.status_changed': { events: ['message.created', 'message.status_changed'] },
  'all events': { events: ['*'] },
};
const [NO_ENDPOINT] = Object.keys(SUBSCRIPTIONS) as [string];

/** Measures the cost of a message by its endpoint's subscription, against a message without an endpoint. */
export const subscriptions: Scenario = {
  name: 'subscriptions',
  heavy: true,

  async run(bench) {
    const { plan, environment, progress } = bench;
    const deployment = await environment.deployment('subscriptions', plan.small);
    const senders: Record<string, Sender[]> = {};
    for (const [name, subscription] of Object.entries(SUBSCRIPTIONS))
      senders[name] = await addSenders(deployment, subscription);
    const [api, worker] = await Promise.all([
      deployment.startService('api'),
      deployment.startService('worker'),
    ]);
    const pids = { api: api.pid, worker: worker.pid };
    const rest = await measureWork(deployment, pids, () => sleep(plan.perEvent.restSeconds * 1000));
    const loads = Object.fromEntries(
      Object.entries(senders).map(([name, workspaces]) => [
        name,
        () => {
          progress(name);
          return measureEach(bench, deployment, { url: api.url, pids, rest }, workspaces);
        },
      ]),
    );
    const runs = await inTurn(ROUNDS, loads);
    return Object.keys(SUBSCRIPTIONS).map((name): Row => {
      const [ours, limit] = [name, NO_ENDPOINT].map((of) => middle(runs, (run) => run[of]!)) as [
        number,
        number,
      ];
      const pairs = runs.map((run): Pair => [run[name]!, run[NO_ENDPOINT]!]);
      return {
        scenario: `a message, ${name}: own and PostgreSQL`,
        ours: microseconds(ours),
        limit: microseconds(limit),
        ratio: ratioOf(pairs),
        goal: 'reported',
        met: null,
        runs: name === NO_ENDPOINT ? runs : null,
      };
    });
  },
};

async function addSenders(deployment: Deployment, subscription: Subscription | null): Promise<Sender[]> {
  const senders = await deployment.addApiKeys(await deployment.addReceiving(WORKSPACES, 'live'));
  const ids = senders.map(({ id }) => id);
  if (subscription === null)
    await deployment.query('DELETE FROM webhook_endpoints WHERE tenant_id = ANY ($1)', [ids]);
  else
    await deployment.query(
      'UPDATE webhook_endpoints SET events = $2, context_parts = $3 WHERE tenant_id = ANY ($1)',
      [ids, subscription.events, subscription.context ?? null],
    );
  return senders;
}

interface Service {
  url: string;
  pids: Record<string, number>;
  rest: EventWork;
}

/** Returns the processor time of a message, in microseconds, without that of the same time at rest. */
async function measureEach(
  { plan, environment: { receiver } }: Bench,
  deployment: Deployment,
  { url, pids, rest }: Service,
  senders: Sender[],
): Promise<number> {
  const { loads, warmUpSeconds } = plan.perEvent;
  const { perSecond, seconds } = loads[0]!;
  const [endpoint] = await deployment.query<{ events: string[] }>(
    'SELECT events FROM webhook_endpoints WHERE tenant_id = $1',
    [senders[0]!.id],
  );
  const each = endpoint === undefined ? 0 : deliveriesOf(endpoint.events);
  await receiver.expect(senders);
  const post = async (duration: number) => {
    const since = await deployment.now();
    const one = new ApiCallers(url, senders);
    const { accepted } = await one.offer({ perSecond, seconds: duration });
    await one.close();
    await receiver.take(accepted * each);
    await untilRecorded(deployment, senders, since, accepted * each);
    return accepted;
  };
  await post(warmUpSeconds);
  let count = 0;
  const work = await measureWork(deployment, pids, async () => {
    count = await post(seconds);
  });
  const used = ({ ownUs, postgresUs }: EventWork) =>
    Object.values(ownUs).reduce((all, one) => all + one, 0) + postgresUs;
  return (used(work) - (used(rest) * work.seconds) / rest.seconds) / count;
}

function deliveriesOf(events: string[]): number {
  return events.includes('*') ? 2 : events.length;
}
