import { Injectable } from '@nestjs/common';
import { Granted, ThroughputLimiter } from '../../redis/throughput-limiter';
import { ClaimedDelivery } from './claimed-delivery';

/** Enforces the rate limits of endpoints, over all workers. */
@Injectable()
export class EndpointRateLimiter {
  constructor(private readonly limiter: ThroughputLimiter) {}

  async acquire(
    { endpointId, rateLimit }: Pick<ClaimedDelivery, 'endpointId' | 'rateLimit'>,
    wanted: number,
  ): Promise<Granted> {
    if (rateLimit === null) return { granted: wanted, remainingMs: 0 };
    return this.limiter.acquire(endpointId, rateLimit, wanted);
  }
}
