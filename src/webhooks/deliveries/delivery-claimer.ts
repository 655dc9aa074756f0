import { Injectable, Logger } from '@nestjs/common';
import { Batcher } from '../../common/batcher';
import { newId } from '../../common/ids';
import { SecretUnreadable } from '../../secrets/secret-box';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspaceBatcher } from '../../database/workspace-batcher';
import { Metrics } from '../../metrics/metrics';
import {
  InjectStartCapacity,
  StartBy,
  StartCapacity,
  startByFromNow,
  UNREADABLE_PAUSE_MS,
} from '../../queue/start-capacity';
import { TargetRates } from '../../queue/target-rates';
import { Target, targetKeyOf } from '../../queue/targets';
import { receivesType } from '../endpoints/subscription';
import { Subscriber, SubscribersRepository } from '../endpoints/subscribers.repository';
import {
  Delivery,
  DELIVERY_QUEUE,
  isForRecovered,
  isOfPresentRecovery,
  Lease,
  targetOf,
  toPending,
} from './delivery';
import { ClaimedRow, PendingDeliveriesRepository } from './pending-deliveries.repository';

const MAX_BATCH = 50;
const CONCURRENCY = 2;
/** Milliseconds for which no worker claims a delivery that `PendingCanceller` is to cancel. */
const UNOWED_DELAY_MS = 60_000;
const SLOW_MS = 1_000;

interface Request {
  target: Target;
  count: number;
  isGranted: boolean;
}

interface Claim {
  deliveries: Delivery[];
  /** The endpoint's limit of deliveries a second, if it must be applied before the claim; null otherwise. */
  rateLimit: number | null;
}

/**
 * Claims pending deliveries that may be sent now, for many endpoints in one transaction. It claims no more
 * than an endpoint's rate limit grants. Deliveries that cannot be signed are postponed without an attempt. A
 * claim locks its endpoints, so that a deactivation waits for the claim. It skips an endpoint that is already
 * being deactivated.
 */
@Injectable()
export class DeliveryClaimer {
  private readonly logger = new Logger(DeliveryClaimer.name);
  private readonly together: WorkspaceBatcher<Request, Claim>;
  /** Claims alone for each target whose last claim was slow, so that no other target waits for it. */
  private readonly apart: WorkspaceBatcher<Request, Claim>;
  /** Keys of the targets whose last claim failed or took over 1 s, even if another target was the reason. */
  private readonly slow = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly endpoints: SubscribersRepository,
    private readonly rates: TargetRates,
    @InjectStartCapacity(DELIVERY_QUEUE) private readonly capacity: StartCapacity,
    private readonly metrics: Metrics,
  ) {
    const claim = (requests: Request[]) => this.claimTimed(requests);
    const batcherOf = (max: number) =>
      new WorkspaceBatcher(database, () => new Batcher(max, claim, { concurrency: CONCURRENCY }));
    this.together = batcherOf(database.workspacesAtOnce(MAX_BATCH));
    this.apart = batcherOf(1);
  }

  async claim(target: Target, count: number): Promise<Delivery[]> {
    const { deliveries, rateLimit } = await this.submit({ target, count, isGranted: false });
    const claimed = rateLimit === null ? deliveries : await this.claimGranted(target, count, rateLimit);
    const [first] = claimed;
    if (!first) return [];
    const { tenantId, id: endpointId } = target;
    const { secrets } = first.endpoint;
    if (secrets instanceof SecretUnreadable) {
      this.logger.error(
        { err: secrets, tenantId, endpointId },
        'secret of an endpoint not readable; deliveries postponed',
      );
      await this.postpone(claimed, UNREADABLE_PAUSE_MS);
      return [];
    }
    return claimed;
  }

  private submit(request: Request): Promise<Claim> {
    const { target } = request;
    const batcher = this.slow.has(targetKeyOf(target)) ? this.apart : this.together;
    return batcher.submit(target.tenantId, request);
  }

  /** Claims as many deliveries as the endpoint's rate limit grants, and leaves the rest pending. */
  private async claimGranted(target: Target, count: number, rateLimit: number): Promise<Delivery[]> {
    const due = await this.deliveries.countDue(target, count);
    if (due === 0) return [];
    const granted = await this.rates.acquire(target, rateLimit, due);
    if (granted === 0) return [];
    const { deliveries } = await this.submit({ target, count: granted, isGranted: true });
    await this.rates.giveBack(target, granted - deliveries.length);
    return deliveries;
  }

  private async claimTimed(requests: Request[]): Promise<Claim[]> {
    const begin = performance.now();
    let isSlow = true;
    try {
      const { tenantId } = requests[0]!.target;
      const claimed = await this.database.placement.forWorkspace(tenantId, () => this.claimAll(requests));
      isSlow = performance.now() - begin > SLOW_MS;
      return claimed;
    } finally {
      for (const { target } of requests) this.slow[isSlow ? 'add' : 'delete'](targetKeyOf(target));
    }
  }

  private claimAll(requests: Request[]): Promise<Claim[]> {
    const lease: Lease = { id: newId(), on: 'row' };
    return this.database.orderedTransaction(async (tx) => {
      const endpoints = await this.lockEndpoints(tx, requests);
      const ratesToAsk = requests.map(({ target, isGranted }) => {
        const endpoint = endpoints.get(target.id);
        return endpoint?.isLocked && !isGranted ? endpoint.rateLimit : null;
      });
      const claims = requests.flatMap(({ target, count }, n) => {
        const { tenantId, id } = target;
        const endpoint = endpoints.get(id);
        if (!endpoint?.isLocked || ratesToAsk[n] !== null) return [];
        return {
          tenantId,
          endpointId: id,
          activation: endpoint.activation,
          recovered: isForRecovered(target),
          count,
        };
      });
      const rows = claims.length > 0 ? await this.deliveries.claim(tx, claims, lease.id) : [];
      this.metrics.webhookLeasesExpired.inc(rows.filter(({ wasLeased }) => wasLeased).length);
      const startBy = startByFromNow();
      const deliveries = rows.map((row) => toDelivery(row, endpoints.get(row.endpointId)!, lease, startBy));
      const claimed = deliveries.filter(isOwed);
      if (claimed.length < deliveries.length) this.leaveUnowed(tx, deliveries, lease);
      return requests.map(({ target, count }, n) => {
        const rateLimit = ratesToAsk[n]!;
        return { deliveries: rateLimit === null ? takeForTarget(claimed, target, count) : [], rateLimit };
      });
    });
  }

  /**
   * Postpones deliveries of unsubscribed event types, and has `PendingCanceller` cancel them. It postpones
   * deliveries of an ended automatic recovery too, until `RecoveryRunner` takes them back.
   */
  private leaveUnowed(tx: Transaction, deliveries: Delivery[], lease: Lease): void {
    const unowed = deliveries.filter((delivery) => !isOwed(delivery));
    this.deliveries.postponePipelined(tx, unowed, lease.id, UNOWED_DELAY_MS);
    this.deliveries.cancelUnowedPipelined(tx, unowed.map(toPending));
  }

  private async lockEndpoints(tx: Transaction, requests: Request[]): Promise<Map<string, Subscriber>> {
    const endpoints = await this.endpoints.lockSubscribers(
      tx,
      requests.map(({ target }) => target),
    );
    this.capacity.noteAnswering(endpoints.filter(({ answersLately }) => answersLately));
    return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  }

  private async postpone(deliveries: Delivery[], delayMs: number): Promise<void> {
    const [first] = deliveries;
    const { endpoint, lease, recovered } = first!;
    this.rates.pause(targetOf(endpoint, recovered), delayMs);
    await this.database.queueTransaction((tx) => {
      this.deliveries.postponePipelined(tx, deliveries, lease!.id, delayMs);
      return Promise.resolve();
    });
  }
}

function isOwed(delivery: Delivery): boolean {
  const { endpoint, event } = delivery;
  return receivesType(endpoint, event.type) && isOfPresentRecovery(delivery, endpoint);
}

function toDelivery(row: ClaimedRow, endpoint: Subscriber, lease: Lease, startBy: StartBy): Delivery {
  const { id, event, round, attemptCount, recovered, recoveryId, automatic } = row;
  const state = { id, event, endpoint, round, attemptCount, recovered, recoveryId, automatic };
  return { ...state, lease, startBy };
}

/** Removes up to `count` deliveries of a target from `claimed`, and returns them. */
function takeForTarget(claimed: Delivery[], target: Target, count: number): Delivery[] {
  const taken: Delivery[] = [];
  for (let n = 0; n < claimed.length && taken.length < count;) {
    const { endpoint, recovered } = claimed[n]!;
    if (endpoint.id === target.id && recovered === isForRecovered(target))
      taken.push(...claimed.splice(n, 1));
    else n += 1;
  }
  return taken;
}
