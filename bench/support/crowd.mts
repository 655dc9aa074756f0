import { sleep } from '../../scripts/processes.mjs';
import type { Bench } from '../scenario.mts';
import { untilRecorded } from './deliveries.mts';
import type { Deployment, Role } from './deployment.mts';
import { itemAt } from './items.mts';
import { offerByApi, type Sender } from './offer-by-api.mts';
import type { Plan } from './plan.mts';
import type { Receiver } from './receiver.mts';
import { consumption, type Consumption } from './shared-parts.mts';
import type { Stage } from './stages.mts';
import { latencyOf, type Percentiles } from './statistics.mts';

const WORKSPACES = 20;
/**
 * Numbers of webhooks a message. The costs of one webhook are the difference between the two, divided by two.
 */
export const WEBHOOKS: [few: number, many: number] = [1, 3];
/**
 * Settings of every process. With so few connections each, sixteen processes stay below PostgreSQL's
 * `max_connections`.
 */
const ENV = { DATABASE_POOL_SIZE: '8' };

/** Workspaces that call the API, by the number of their webhook endpoints. */
type Senders = Map<number, Sender[]>;

export async function addSenders(deployment: Deployment): Promise<Senders> {
  const senders: Senders = new Map();
  for (const webhooks of WEBHOOKS) {
    const receiving = await deployment.addReceiving(WORKSPACES, 'live', webhooks);
    senders.set(webhooks, await deployment.addApiKeys(receiving));
  }
  return senders;
}

/**
 * Numbers of messages sent and webhooks delivered, with the times from message to webhook in milliseconds.
 */
export interface Sent {
  messages: number;
  deliveries: number;
  latency: Percentiles;
}

/** Growing number of API processes, and as many workers, on one stage. */
export class Crowd {
  private readonly plan: Plan['shares'];
  private readonly receiver: Receiver;
  private readonly progress: (line: string) => void;
  private readonly stage: Stage;
  private readonly senders: Senders;
  /** Base URLs of the API processes. */
  private readonly urls: string[] = [];

  constructor({ plan, environment, progress }: Bench, stage: Stage, senders: Senders) {
    this.plan = plan.shares;
    this.receiver = environment.receiver;
    this.progress = progress;
    this.stage = stage;
    this.senders = senders;
  }

  /**
   * Starts API processes and workers until there are `count` of each, then warms them up. They start pair
   * after pair, so that none exceeds the time limit of a start.
   */
  async growTo(count: number): Promise<void> {
    const { name, parts } = this.stage;
    this.progress(`${name}: ${count} API processes and as many workers`);
    const env = { ...ENV, ...this.stage.env };
    while (this.urls.length < count) {
      const start = (role: Role) => parts.deployment.startService(role, env);
      const [{ url }] = await Promise.all([start('api'), start('worker')]);
      this.urls.push(url);
    }
    const { perSecond, warmUpSeconds: seconds } = this.plan;
    const [few, many] = WEBHOOKS;
    // New processes are slow: they would refuse requests that come all at once.
    await this.send(few, { perSecond: perSecond / 4, seconds });
    await this.send(many, { perSecond, seconds });
  }

  /** Measures the consumption of the shared servers without load. */
  rest(): Promise<Consumption> {
    return consumption(this.stage.parts, () => sleep(this.plan.seconds * 1000));
  }

  /**
   * Measures the consumption of the shared servers for messages with `webhooks` webhooks each, until the last
   * delivery is recorded.
   */
  async serve(webhooks: number): Promise<Consumption & Sent> {
    const sent: Sent[] = [];
    const used = await consumption(this.stage.parts, async () => {
      sent.push(await this.send(webhooks, this.plan));
    });
    return { ...used, ...itemAt(sent, 0) };
  }

  /** Sends messages through the API, and checks that each delivery arrives and is recorded once. */
  private async send(webhooks: number, rate: { perSecond: number; seconds: number }): Promise<Sent> {
    const { deployment } = this.stage.parts;
    const senders = this.senders.get(webhooks) ?? [];
    await this.receiver.expect(senders);
    const now = await deployment.now();
    const messages = await offerByApi(this.urls, senders, rate);
    const deliveries = messages * webhooks;
    const times = await this.receiver.take(deliveries);
    await untilRecorded(deployment, senders, now, deliveries);
    return { messages, deliveries, latency: latencyOf(times) };
  }
}
