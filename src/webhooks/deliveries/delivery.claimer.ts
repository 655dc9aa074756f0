import { Injectable, Logger } from '@nestjs/common';
import { SecretUnreadable } from '../../common/secret-box';
import { Granted } from '../../redis/throughput-limiter';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryQueue } from './delivery.queue';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { EndpointRateLimiter } from './endpoint-rate-limiter';

/** How long an endpoint is left alone whose secret can't be read here: until an operator has put its key back. */
const UNREADABLE_PAUSE_MS = 60_000;
/** The same for one whose rate can't be taken, because Redis is away. */
const RATE_UNKNOWN_PAUSE_MS = 1_000;

/** Claims deliveries that may go now. Those that must wait are given back, which costs no attempt and holds no place. */
@Injectable()
export class DeliveryClaimer {
  private readonly logger = new Logger(DeliveryClaimer.name);
  /** Endpoints whose deliveries were given back, and until when. */
  private readonly pausedUntil = new Map<string, number>();

  constructor(
    private readonly store: PendingDeliveriesRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly pace: EndpointRateLimiter,
    private readonly queue: DeliveryQueue,
  ) {}

  /** Up to `count` of an endpoint's due deliveries, under a lease. */
  async claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    const claimed = await this.store.claim(endpointId, count);
    const [first] = claimed;
    if (!first) return [];
    // They are all of one endpoint, and so of one secret.
    const fault = this.faultOf(first);
    if (fault) {
      const { tenantId } = first;
      this.logger.error({ err: fault, tenantId, endpointId }, "an endpoint's secret can't be read; it waits");
      await this.giveBack(claimed, UNREADABLE_PAUSE_MS);
      return [];
    }
    const { granted, remainingMs } = await this.paceOf(claimed);
    if (granted < claimed.length) await this.giveBack(claimed.slice(granted), remainingMs);
    return claimed.slice(0, granted);
  }

  /** Without Redis there is no telling of a rate: what is held to one waits, but for nobody's lease. */
  private async paceOf(claimed: ClaimedDelivery[]): Promise<Granted> {
    try {
      return await this.pace.take(claimed[0]!, claimed.length);
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'the rate of an endpoint is not known; its deliveries wait');
      return { granted: 0, remainingMs: RATE_UNKNOWN_PAUSE_MS };
    }
  }

  /** Whether claiming is vain for now: however much is due, it would only be given back. */
  isPaused(endpointId: string): boolean {
    const until = this.pausedUntil.get(endpointId);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(endpointId);
    return false;
  }

  /** Whether an endpoint's deliveries may go as they come: none is held to a rate, and each can be signed. */
  mayGoAtOnce(endpoint: Subscriber): boolean {
    return endpoint.isHeld && endpoint.rateLimit === null && this.canSign(endpoint);
  }

  canSign({ id, secret }: Subscriber): boolean {
    return this.faultOf({ endpointId: id, secret }) === null;
  }

  /** What keeps deliveries from being signed here, if anything does. */
  private faultOf(secret: Pick<ClaimedDelivery, 'endpointId' | 'secret'>): SecretUnreadable | null {
    try {
      this.attempter.secretOf(secret);
      return null;
    } catch (error) {
      if (error instanceof SecretUnreadable) return error;
      throw error;
    }
  }

  private async giveBack(deliveries: ClaimedDelivery[], delayMs: number): Promise<void> {
    const { endpointId } = deliveries[0]!;
    this.pausedUntil.set(endpointId, Date.now() + delayMs);
    await this.store.postpone(deliveries, delayMs);
    this.queue.wakeIn(endpointId, delayMs);
  }
}
