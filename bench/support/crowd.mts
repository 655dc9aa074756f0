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
/** Numbers of webhooks a message: what a webhook costs shows in the difference between them. */
export const WEBHOOKS: [few: number, many: number] = [1, 3];
/** Sixteen processes with these connections stay below PostgreSQL's number. */
const ENV = { DATABASE_POOL_SIZE: '8' };

/** Workspaces that call the API, by the number of their endpoints. */
export type Senders = Map<number, Sender[]>;

export async function addSenders(deployment: Deployment): Promise<Senders> {
  const senders: Senders = new Map();
  for (const webhooks of WEBHOOKS) {
    const receiving = await deployment.addReceiving(WORKSPACES, 'live', webhooks);
    senders.set(webhooks, await deployment.addApiKeys(receiving));
  }
  return senders;
}

/** Messages that were sent and delivered. */
export interface Sent {
  messages: number;
  deliveries: number;
  latency: Percentiles;
}

/** API processes and as many workers, on one stage. */
export class Crowd {
  private readonly plan: Plan['shares'];
  private readonly receiver: Receiver;
  private readonly progress: (line: string) => void;
  private readonly stage: Stage;
  private readonly senders: Senders;
  /** The addresses of the API processes. */
  private readonly urls: string[] = [];

  constructor({ plan, environment, progress }: Bench, stage: Stage, senders: Senders) {
    this.plan = plan.shares;
    this.receiver = environment.receiver;
    this.progress = progress;
    this.stage = stage;
    this.senders = senders;
  }

  /** Starts one pair after the other, so that none is too late. */
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
    // New processes are slow: they would refuse what comes all at once.
    await this.send(few, { perSecond: perSecond / 4, seconds });
    await this.send(many, { perSecond, seconds });
  }

  /** Measures the shared parts while there is nothing to do. */
  rest(): Promise<Consumption> {
    return consumption(this.stage.parts, () => sleep(this.plan.seconds * 1000));
  }

  /** Measures them for messages with so many webhooks each, until the last one is recorded. */
  async serve(webhooks: number): Promise<Consumption & Sent> {
    const sent: Sent[] = [];
    const used = await consumption(this.stage.parts, async () => {
      sent.push(await this.send(webhooks, this.plan));
    });
    return { ...used, ...itemAt(sent, 0) };
  }

  /** Sends messages, each of whose deliveries must arrive and be recorded once. */
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
