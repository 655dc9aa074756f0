import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { clientNetworkOf } from '../../http/connections/client-network';
import { RateLimiter, REFUSALS } from '../../http/limits/rate-limiter';
import { Connection } from '../adapters/channel-adapter';

/**
 * Counts the refused requests of a client's network to a hook, and refuses those above the limit with 429. A
 * handshake from there is refused even with the right verify token: an operator may have chosen the token, so
 * guessing it must end. A signed event is always taken, because the secrets that sign can't be guessed, and a
 * provider may share the address of a proxy with whoever sends unsigned ones. So each body must be read and
 * checked. `RequestBodies` limits the memory for that, and an unsigned one takes no slot.
 */
@Injectable()
export class HookRefusals {
  constructor(private readonly limiter: RateLimiter) {}

  /**
   * Counts a refused request, or a handshake before its verify token is checked.
   * @param connection null when no connection has the hook's key: such requests of a network count together
   * @throws AppError RATE_LIMITED
   */
  async count(request: Request, connection: Connection | null): Promise<void> {
    await this.limiter.countCall(keyOf(request, connection), REFUSALS);
  }

  /** Takes back the count of a handshake with the right verify token. */
  giveBack(request: Request, connection: Connection): Promise<void> {
    return this.limiter.giveBack(keyOf(request, connection));
  }
}

/** Keeps handshakes apart from what is posted, so that guessing a verify token holds up no message. */
function keyOf(request: Request, connection: Connection | null): string {
  return `hook-refused:${request.method}:${connection?.id ?? 'unknown'}:${clientNetworkOf(request)}`;
}
