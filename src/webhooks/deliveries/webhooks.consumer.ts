import { Injectable, OnModuleInit } from '@nestjs/common';
import { groupByWorkspace } from '../../common/group-by';
import { Memo } from '../../common/memo';
import { Transaction } from '../../database/transaction';
import { ClaimedEvent } from '../../outbox/event-queue.repository';
import { Metrics } from '../../metrics/metrics';
import { PreparedConsumer, OutboxConsumer } from '../../outbox/outbox.consumer';
import { OutboxRelay } from '../../outbox/outbox-relay';
import { InjectStartCapacity, StartCapacity } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { EndpointSubscription, receivesEvent, receivesType } from '../endpoints/subscription';
import { Subscriber, SubscribersRepository } from '../endpoints/subscribers.repository';
import { DELIVERY_QUEUE } from './delivery';
import { DeliveryFanOut } from './delivery-fan-out';

/**
 * Number of deliveries of one turn. It bounds the turn's statements, however many endpoints a workspace has.
 */
const MAX_DELIVERIES = 500;
/** Number of workspaces whose breadth is remembered. */
const MAX_REMEMBERED = 10_000;

/** Numbers of endpoints to which the events of a workspace may go. */
interface Breadth {
  /** Number of active endpoints. */
  endpoints: number;
  /** Active endpoints whose deliveries may start without a claim. */
  starting: Target[];
}

/** Makes deliveries of events for the endpoints that have subscribed to them. */
@Injectable()
export class WebhooksConsumer implements OutboxConsumer, OnModuleInit {
  readonly name = 'webhooks';
  /** Breadths of workspaces in their last turns. */
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
    return this.capacity.isBusy(tenantId);
  }

  guessLimit(tenantId: string, isOverdue: boolean, workspaces: number): number | null {
    const breadth = this.breadths.find(tenantId);
    return breadth ? this.limitOf(breadth, isOverdue, workspaces) : null;
  }

  /**
   * Locks the endpoints, so that a deactivation waits for the commit. An endpoint that is being changed is
   * not waited for: its deliveries become pending.
   */
  async prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<PreparedConsumer> {
    const subscribers = await this.endpoints.lockWorkspaceSubscribers(tx, tenantIds);
    this.capacity.noteAnswering(subscribers.filter(({ answersLately }) => answersLately));
    const endpoints = groupByWorkspace(subscribers);
    for (const tenantId of tenantIds) this.breadths.set(tenantId, breadthOf(endpoints.get(tenantId) ?? []));
    return {
      limitOf: (tenantId, isOverdue) => this.guessLimit(tenantId, isOverdue, tenantIds.length)!,
      hasSubscriber: (tenantId, type) =>
        (endpoints.get(tenantId) ?? []).some((endpoint) => receivesType(endpoint, type)),
      consume: async (events) => {
        this.metrics.webhookLeasesExpired.inc(events.filter(({ wasLeased }) => wasLeased).length);
        const subscribed = subscriptions(endpoints, await this.subscription.filterEntitled(tx, events));
        const kept = await this.fanOut.makeDeliveries(tx, subscribed);
        for (const [tenantId, ofWorkspace] of endpoints)
          this.capacity.markIfBusy(tenantId, breadthOf(ofWorkspace).starting);
        return kept;
      },
    };
  }

  private limitOf({ endpoints, starting }: Breadth, isOverdue: boolean, workspaces: number): number {
    if (endpoints === 0) return Infinity;
    const share = Math.max(1, Math.floor(MAX_DELIVERIES / workspaces / endpoints));
    // With no more events than the least busy endpoint can start, few deliveries become rows.
    return isOverdue ? share : Math.min(share, this.capacity.countMostStartable(starting));
  }
}

function breadthOf(endpoints: Subscriber[]): Breadth {
  const starting = endpoints.filter(({ startsAtOnce }) => startsAtOnce);
  return { endpoints: endpoints.length, starting: starting.map(({ tenantId, id }) => ({ tenantId, id })) };
}

/** Returns the events of each endpoint: of the types that it receives, and appended after its activation. */
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
