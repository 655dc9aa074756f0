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
 * Verifies the signatures of requests to hooks. Counts refused requests by hook and client network, and
 * answers unsigned requests above a limit with 429. A signed event is accepted even above the limit, because
 * its secret cannot be guessed and an attacker may share the provider's address. A handshake above the limit
 * is refused even with the right verify token, because an operator may have chosen a weak one.
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
   * Returns the challenge of a provider that verifies a hook's URL.
   * @throws AppError FORBIDDEN if the verify token is wrong; RATE_LIMITED
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
   * Stores all events of one request. If it throws, some may be missing, and the provider repeats all.
   * @throws AppError UNAUTHENTICATED, also for an unknown hook key; INVALID_BODY; PAYLOAD_TOO_LARGE;
   *   RATE_LIMITED: too many concurrent or unsigned requests, or a signed body had too many events less than
   *   5 s ago; UNAVAILABLE: too many concurrent requests in this process
   */
  async receive({ channel, hookKey, request: received, response }: HookCall): Promise<void> {
    // Comes before the body is read, so that a body with an unknown hook key is not held in memory.
    const connection = await this.connections.loadByHookKey(channel, hookKey);
    if (!connection) return this.refuse(received, null);
    const request = await this.bodies.read(connection, received);
    const adapter = this.adapters.getHookedAdapter(channel);
    const signer = adapter.listSecrets(connection).find((secret) => adapter.verify(secret, request));
    // Unsigned requests get no slot for storing events, so that they never block signed ones.
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
 * Returns the key of the counter of refused requests, by hook and client network. Handshakes (GET) and events
 * (POST) are counted separately, so that guessing a verify token does not block events. All unknown hook keys
 * have one counter.
 */
function refusalsOf(request: Request, connection: Connection | null): string {
  return `hook-refused:${request.method}:${connection?.id ?? 'unknown'}:${clientNetworkOf(request)}`;
}
