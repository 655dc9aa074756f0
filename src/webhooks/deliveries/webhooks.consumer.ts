import { Injectable, OnModuleInit } from '@nestjs/common';
import { groupByWorkspace } from '../../common/group-by';
import { Memo } from '../../common/memo';
import { Transaction } from '../../database/transaction';
import { ClaimedEvent } from '../../outbox/event-queue.repository';
import { Metrics } from '../../metrics/metrics';
import { ConsumeEvents, OutboxConsumer } from '../../outbox/outbox.consumer';
import { OutboxRelay } from '../../outbox/outbox-relay';
import { InjectStartCapacity, StartCapacity, startByFromNow } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { EndpointSubscription, receivesEvent } from '../endpoints/subscription';
import { Subscriber, SubscribersRepository } from '../endpoints/subscribers.repository';
import { DELIVERY_QUEUE } from './delivery';
import { DeliveryFanOut } from './delivery-fan-out';

/** Largest number of deliveries that one transaction of the relay should make. */
const MAX_DELIVERIES = 500;
const MAX_REMEMBERED = 10_000;
/** Number of a workspace's events in a turn before its endpoints are known. */
const FIRST_EVENTS = 1;

/** Number of active endpoints of a workspace, and those whose deliveries may start at once. */
interface Breadth {
  endpoints: number;
  starting: Target[];
}

@Injectable()
export class WebhooksConsumer implements OutboxConsumer, OnModuleInit {
  readonly name = 'webhooks';
  private readonly breadths = new Memo<Breadth>(MAX_REMEMBERED);

  constructor(
    private readonly relay: OutboxRelay,
    private readonly endpoints: SubscribersRepository,
    private readonly subscription: EndpointSubscription,
    private readonly fanOut: DeliveryFanOut,
    @InjectStartCapacity(DELIVERY_QUEUE) private readonly capacity: StartCapacity,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
    this.capacity.onRelease(() => this.relay.lookAgain());
  }

  isBusy(tenantId: string): boolean {
    const { starting = [] } = this.breadths.find(tenantId) ?? {};
    return starting.length > 0 && !starting.some((target) => this.capacity.isReady(target));
  }

  limitOf(tenantId: string, isOverdue: boolean, workspaces: number): number {
    const breadth = this.breadths.find(tenantId);
    if (!breadth) return FIRST_EVENTS;
    const { endpoints, starting } = breadth;
    if (endpoints === 0) return Infinity;
    const share = Math.max(1, Math.floor(MAX_DELIVERIES / workspaces / endpoints));
    // Takes no more events than the least busy endpoint can start, so that few deliveries need a row.
    if (isOverdue || starting.length === 0) return share;
    return Math.min(share, Math.max(...starting.map((target) => this.capacity.countStartable(target))));
  }

  /**
   * Reads and locks the active endpoints, so that a deactivation waits for the claim. Deliveries to an
   * endpoint that another transaction is changing become pending.
   */
  async prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<ConsumeEvents> {
    const startBy = startByFromNow();
    const subscribers = await this.endpoints.lockWorkspaceSubscribers(tx, tenantIds);
    this.capacity.noteAnswering(subscribers.filter(({ answersLately }) => answersLately));
    const endpoints = groupByWorkspace(subscribers);
    for (const tenantId of tenantIds) this.breadths.set(tenantId, breadthOf(endpoints.get(tenantId) ?? []));
    return async (reader, events) => {
      this.metrics.webhookLeasesExpired.inc(events.filter(({ wasLeased }) => wasLeased).length);
      const subscribed = subscriptions(endpoints, await this.subscription.filterEntitled(reader, events));
      return this.fanOut.makeDeliveries(reader, subscribed, startBy);
    };
  }
}

function breadthOf(endpoints: Subscriber[]): Breadth {
  const starting = endpoints.filter(({ startsAtOnce }) => startsAtOnce);
  return { endpoints: endpoints.length, starting: starting.map(({ tenantId, id }) => ({ tenantId, id })) };
}

function subscriptions(
  endpoints: Map<string, Subscriber[]>,
  events: ClaimedEvent[],
): Map<Subscriber, ClaimedEvent[]> {
  const byWorkspace = groupByWorkspace(events);
  const subscribed = new Map<Subscriber, ClaimedEvent[]>();
  for (const [tenantId, ofWorkspace] of byWorkspace) {
    for (const endpoint of endpoints.get(tenantId) ?? []) {
      const matching = ofWorkspace.filter((event) => receivesEvent(endpoint, event));
      if (matching.length > 0) subscribed.set(endpoint, matching);
    }
  }
  return subscribed;
}
