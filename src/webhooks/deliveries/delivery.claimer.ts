import { Injectable, Logger } from '@nestjs/common';
import { SecretUnreadable } from '../../common/secret-box';
import { Granted } from '../../redis/throughput-limiter';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryQueue } from './delivery.queue';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { EndpointRateLimiter } from './endpoint-rate-limiter';

/** Until an operator restores the key. */
const UNREADABLE_PAUSE_MS = 60_000;
const RATE_UNKNOWN_PAUSE_MS = 1_000;

/** Claims the deliveries that may be sent now. It postpones the others, which costs no attempt and holds no slot. */
@Injectable()
export class DeliveryClaimer {
  private readonly logger = new Logger(DeliveryClaimer.name);
  /** By endpoint, in milliseconds. */
  private readonly pausedUntil = new Map<string, number>();

  constructor(
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly rateLimiter: EndpointRateLimiter,
    private readonly queue: DeliveryQueue,
  ) {}

  async claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    const claimed = await this.deliveries.claim(endpointId, count);
    const [first] = claimed;
    if (!first) return [];
    // Deliveries of one endpoint have one secret.
    const error = this.secretErrorOf(first);
    if (error) {
      const { tenantId } = first;
      this.logger.error(
        { err: error, tenantId, endpointId },
        'secret of an endpoint not readable; deliveries postponed',
      );
      await this.postpone(claimed, UNREADABLE_PAUSE_MS);
      return [];
    }
    const { granted, remainingMs } = await this.acquireRate(claimed);
    if (granted < claimed.length) await this.postpone(claimed.slice(granted), remainingMs);
    return claimed.slice(0, granted);
  }

  /** While Redis is down, the rate is unknown: deliveries to an endpoint with a rate limit are postponed. */
  private async acquireRate(claimed: ClaimedDelivery[]): Promise<Granted> {
    try {
      return await this.rateLimiter.acquire(claimed[0]!, claimed.length);
    } catch (error) {
      this.logger.warn(
        { err: error as Error },
        'rate of an endpoint not known without Redis; deliveries postponed',
      );
      return { granted: 0, remainingMs: RATE_UNKNOWN_PAUSE_MS };
    }
  }

  isPaused(endpointId: string): boolean {
    const until = this.pausedUntil.get(endpointId);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(endpointId);
    return false;
  }

  /** Whether new deliveries may start without a claim: the endpoint has no rate limit, and its secret is readable. */
  canStartNow(endpoint: Subscriber): boolean {
    return endpoint.isLocked && endpoint.rateLimit === null && this.canSign(endpoint);
  }

  canSign({ id, secret }: Subscriber): boolean {
    return this.secretErrorOf({ endpointId: id, secret }) === null;
  }

  private secretErrorOf(secret: Pick<ClaimedDelivery, 'endpointId' | 'secret'>): SecretUnreadable | null {
    try {
      this.attempter.secretOf(secret);
      return null;
    } catch (error) {
      if (error instanceof SecretUnreadable) return error;
      throw error;
    }
  }

  private async postpone(deliveries: ClaimedDelivery[], delayMs: number): Promise<void> {
    const { endpointId } = deliveries[0]!;
    this.pausedUntil.set(endpointId, Date.now() + delayMs);
    await this.deliveries.postpone(deliveries, delayMs);
    this.queue.wakeIn(endpointId, delayMs);
  }
}
