import { Injectable } from '@nestjs/common';
import { Granted, ThroughputLimiter } from '../../redis/throughput-limiter';
import { ClaimedDelivery } from './claimed-delivery';

/** Keeps endpoints that have a rate of their own to it, over all workers. */
@Injectable()
export class EndpointRateLimiter {
  constructor(private readonly pace: ThroughputLimiter) {}

  /** How many of an endpoint's deliveries may go now, of those wanted, and when the others may. */
  async take(
    { endpointId, rateLimit }: Pick<ClaimedDelivery, 'endpointId' | 'rateLimit'>,
    wanted: number,
  ): Promise<Granted> {
    if (rateLimit === null) return { granted: wanted, remainingMs: 0 };
    return this.pace.take(endpointId, rateLimit, wanted);
  }
}
