import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AppError } from '../../common/app-error';
import { Memo } from '../../common/memo';
import { clientNetworkOf } from '../../http/connections/client-network';
import { RateLimiter, REFUSALS } from '../../http/limits/rate-limiter';
import { Connection } from '../adapters/channel-adapter';

/** Number of networks that this process remembers to be above the limit, each at one hook. */
const MAX_BLOCKED = 10_000;

/**
 * Counts the refused requests of a client's network to a hook, and refuses those above the limit with 429. A
 * handshake from there is refused even with the right verify token: an operator may have chosen the token, so
 * guessing it must end. A signed event is always taken, because the secrets that sign can't be guessed, and a
 * provider may share the address of a proxy with whoever sends unsigned ones. So each body must be read and
 * checked. `RequestBodies` limits the memory for that, and an unsigned one takes no slot.
 */
@Injectable()
export class HookRefusals {
  /** End of each window in which a network is above the limit, on the monotonic clock. */
  private readonly blockedUntil = new Memo<number>(MAX_BLOCKED);

  constructor(private readonly limiter: RateLimiter) {}

  /**
   * Refuses a network that is above the limit at a hook.
   * @throws AppError RATE_LIMITED
   */
  requireFew(request: Request, connection: Connection | null): void {
    const leftMs = (this.blockedUntil.find(keyOf(request, connection)) ?? 0) - performance.now();
    if (leftMs > 0) throw AppError.rateLimited(REFUSALS.excess, Math.ceil(leftMs / 1_000));
  }

  /**
   * Counts a refusal, unless the network is above the limit already.
   * @param connection null when no connection has the hook's key: such requests of a network count together
   * @returns the error that refuses the request
   * @throws AppError RATE_LIMITED
   */
  async count(request: Request, connection: Connection | null, error: AppError): Promise<AppError> {
    this.requireFew(request, connection);
    const key = keyOf(request, connection);
    try {
      await this.limiter.countCall(key, REFUSALS);
    } catch (limited) {
      const { retryAfterSeconds = 0 } = limited as AppError;
      this.blockedUntil.set(key, performance.now() + retryAfterSeconds * 1_000);
      throw limited;
    }
    return error;
  }
}

/** Keeps handshakes apart from what is posted, so that guessing a verify token holds up no message. */
function keyOf(request: Request, connection: Connection | null): string {
  return `hook-refused:${request.method}:${connection?.id ?? 'unknown'}:${clientNetworkOf(request)}`;
}
