import { Injectable, Logger } from '@nestjs/common';
import { startByFromNow } from '../../queue/start-by';
import { Batcher } from '../../common/batcher';
import { newId } from '../../common/ids';
import { SecretUnreadable } from '../../secrets/secret-box';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { PausedTargets, UNREADABLE_PAUSE_MS } from '../../queue/paused-targets';
import { Target } from '../../queue/target';
import { Granted, ThroughputLimiter } from '../../redis/throughput-limiter';
import { Subscriber, WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { Delivery, HeldRow, takesRecovered, targetOf } from './delivery';
import { DeliveryAttempter } from './delivery-attempter';
import { DeliveryQueue } from './delivery-queue';
import { ClaimedRow, PendingDeliveriesRepository } from './pending-deliveries.repository';

/** Number of endpoints of one claim, which bounds the claim's locks. */
const MAX_BATCH = 50;

interface Request {
  target: Target;
  count: number;
}

/**
 * Claims pending deliveries that may be sent now, for many endpoints with one transaction. It postpones the
 * others, which costs no attempt and holds no slot. A claim locks its endpoints: a deactivation waits for it,
 * or it finds no endpoint.
 */
@Injectable()
export class DeliveryClaimer {
  private readonly logger = new Logger(DeliveryClaimer.name);
  private readonly batcher: Batcher<Request, Delivery[]>;
  private readonly paused = new PausedTargets();

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly rateLimiter: ThroughputLimiter,
    private readonly queue: DeliveryQueue,
    private readonly metrics: Metrics,
  ) {
    this.batcher = new Batcher(config.crossWorkspaceBatches ? MAX_BATCH : 1, (requests) =>
      this.claimAll(requests),
    );
  }

  async claim(target: Target, count: number): Promise<Delivery[]> {
    const claimed = await this.batcher.submit({ target, count });
    const [first] = claimed;
    if (!first) return [];
    const { tenantId, id: endpointId } = target;
    const error = this.findSecretError(first.endpoint);
    if (error) {
      this.logger.error(
        { err: error, tenantId, endpointId },
        'secret of an endpoint not readable; deliveries postponed',
      );
      await this.postpone(claimed, UNREADABLE_PAUSE_MS);
      return [];
    }
    const { granted, remainingMs } = await this.acquireRate(first.endpoint, claimed.length);
    if (granted < claimed.length) await this.postpone(claimed.slice(granted), remainingMs);
    return claimed.slice(0, granted);
  }

  isPaused(target: Target): boolean {
    return this.paused.isPaused(target);
  }

  /**
   * Reports whether deliveries may start without a claim: the endpoint has no rate limit, and its secret is
   * readable.
   */
  canStartNow(endpoint: Subscriber): boolean {
    return endpoint.isLocked && endpoint.rateLimit === null && this.findSecretError(endpoint) === null;
  }

  private claimAll(requests: Request[]): Promise<Delivery[][]> {
    const held = { leaseId: newId() };
    return this.database.queueTransaction(async (tx) => {
      const endpoints = await this.lockEndpoints(tx, requests);
      const claims = requests.flatMap(({ target, count }) => {
        const { tenantId, id } = target;
        const endpoint = endpoints.get(id);
        if (!endpoint?.isLocked) return [];
        return {
          tenantId,
          endpointId: id,
          activation: endpoint.activation,
          recovered: takesRecovered(target),
          count,
        };
      });
      if (claims.length === 0) return requests.map(() => []);
      const rows = await this.deliveries.claim(tx, claims, held);
      this.metrics.webhookLeasesExpired.inc(rows.filter(({ wasLeased }) => wasLeased).length);
      const startBy = startByFromNow();
      const claimed = rows.map((row) => toDelivery(row, endpoints.get(row.endpointId)!, held, startBy));
      return requests.map(({ target, count }) => takeOf(claimed, target, count));
    });
  }

  private async lockEndpoints(tx: Transaction, requests: Request[]): Promise<Map<string, Subscriber>> {
    const endpoints = await this.endpoints.lockSubscribers(
      tx,
      requests.map(({ target }) => target),
    );
    return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  }

  private async acquireRate({ id, rateLimit }: Subscriber, wanted: number): Promise<Granted> {
    if (rateLimit === null) return { granted: wanted, remainingMs: 0 };
    return this.rateLimiter.acquire(id, rateLimit, wanted);
  }

  private findSecretError(endpoint: Subscriber): SecretUnreadable | null {
    try {
      this.attempter.readSecrets(endpoint);
      return null;
    } catch (error) {
      if (error instanceof SecretUnreadable) return error;
      throw error;
    }
  }

  private async postpone(deliveries: Delivery[], delayMs: number): Promise<void> {
    const [first] = deliveries;
    const { endpoint, held, recovered } = first!;
    const target = targetOf(endpoint, recovered);
    this.paused.pause(target, delayMs);
    if (!('row' in held)) return;
    await this.database.queueTransaction((tx) => {
      this.deliveries.postponePipelined(tx, deliveries, held.row, delayMs);
      return Promise.resolve();
    });
    this.queue.wakeIn(target, delayMs);
  }
}

function toDelivery(row: ClaimedRow, endpoint: Subscriber, held: HeldRow, startBy: number): Delivery {
  const { id, event, round, attemptCount, recovered } = row;
  return { id, event, endpoint, held: { row: held }, round, attemptCount, recovered, startBy };
}

/**
 * Takes up to `count` deliveries of a target out of those claimed. Two requests for one target share them.
 */
function takeOf(claimed: Delivery[], target: Target, count: number): Delivery[] {
  const taken: Delivery[] = [];
  for (let n = 0; n < claimed.length && taken.length < count;) {
    const { endpoint, recovered } = claimed[n]!;
    if (endpoint.id === target.id && recovered === takesRecovered(target))
      taken.push(...claimed.splice(n, 1));
    else n += 1;
  }
  return taken;
}
