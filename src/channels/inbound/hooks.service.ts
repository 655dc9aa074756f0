import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { Channel } from '../../common/channel-descriptors';
import { clientNetworkOf } from '../../http/connections/client-network';
import { RateLimiter, REFUSALS } from '../../http/limits/rate-limiter';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { Connection } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader } from '../connections/connection-loader';
import { HookBodies } from './hook-bodies';
import { HookEventsService } from './hook-events.service';

interface HookCall {
  channel: Channel;
  hookKey: string;
  request: Request;
  response: Response;
}

/**
 * Verifies the signatures of providers' requests to hooks. Refused requests of a client's network to a hook
 * are counted, and refused with 429 above the limit. A handshake from there is refused even with the right
 * verify token: an operator may have chosen the token, so guessing it must end. A signed event is always
 * taken, because the secrets that sign can't be guessed, and a provider may share a proxy's address with
 * others. So each body is read and checked, within the memory of `RequestBodies`.
 */
@Injectable()
export class HooksService {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly connections: ConnectionLoader,
    private readonly bodies: HookBodies,
    private readonly events: HookEventsService,
    private readonly limiter: RateLimiter,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Answers a provider that verifies a hook's address.
   * @returns the provider's challenge
   * @throws AppError FORBIDDEN, RATE_LIMITED
   */
  async handshake({ channel, hookKey, request }: HookCall): Promise<string> {
    const connection = await this.connections.loadByHookKey(channel, hookKey);
    const counter = refusalsOf(request, connection);
    await this.limiter.countCall(counter, REFUSALS);
    const adapter = this.adapters.getHookedAdapter(channel);
    const challenge = connection && adapter.handshake?.(connection, request.query);
    if (typeof challenge !== 'string')
      throw new AppError('FORBIDDEN', 'This is not the verify token of this address.');
    await this.limiter.giveBack(counter);
    return challenge;
  }

  /**
   * Stores all events of one request. When it throws, some may be missing, and the provider sends all of them
   * again.
   * @throws AppError UNAUTHENTICATED (also for an unknown address), INVALID_BODY, PAYLOAD_TOO_LARGE;
   *   RATE_LIMITED, UNAVAILABLE when too many requests for the connection, or in all, are in flight;
   *   RATE_LIMITED within five seconds after a signed body of too many events, and for an unsigned request
   *   after too many of the client's network to this hook
   */
  async receive({ channel, hookKey, request: received, response }: HookCall): Promise<void> {
    // Comes before the body is read, so that a caller without a hook's key holds no memory.
    const connection = await this.connections.loadByHookKey(channel, hookKey);
    if (!connection) return this.refuse(received, null);
    const request = await this.bodies.read(connection, received);
    const adapter = this.adapters.getHookedAdapter(channel);
    const signer = adapter.listSecrets(connection).find((secret) => adapter.verify(secret, request));
    // A request that is not signed takes no slot from one that is.
    if (signer === undefined) return this.refuse(received, connection);
    const release = await this.budgets.acquire('hooks', connection.id, response);
    try {
      await this.events.store(connection, this.bodies.parse(connection, request), signer);
    } finally {
      release();
    }
  }

  private async refuse(request: Request, connection: Connection | null): Promise<never> {
    await this.limiter.countCall(refusalsOf(request, connection), REFUSALS);
    throw new AppError('UNAUTHENTICATED', 'The request is not signed as it must be.');
  }
}

/**
 * Names the counter of the refused requests of a client's network to a hook. Handshakes are counted apart
 * from posted events, so that guessing a verify token holds up no message.
 * @param connection null when no connection has the hook's key: such requests of a network count together
 */
function refusalsOf(request: Request, connection: Connection | null): string {
  return `hook-refused:${request.method}:${connection?.id ?? 'unknown'}:${clientNetworkOf(request)}`;
}
