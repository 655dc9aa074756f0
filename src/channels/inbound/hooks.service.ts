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
 * Verifies the signatures of providers' requests to hooks. Counts refused requests by hook and client
 * network, and refuses further ones with 429 above a limit. Above the limit, a handshake with the right
 * verify token is refused as well: an operator may have chosen a weak token, so guessing must be limited. A
 * signed event is always accepted: signing secrets cannot be guessed, and the provider may share an address
 * with other clients. Therefore each body is read and verified, within the memory limit of `RequestBodies`.
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
   * Answers a provider that verifies a hook's URL.
   *
   * @returns the provider's challenge
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
   * Stores all events of one request. If it throws, some events may not be stored; the provider then repeats
   * the whole request.
   *
   * @throws AppError UNAUTHENTICATED (also for an unknown hook key), INVALID_BODY, PAYLOAD_TOO_LARGE
   * @throws AppError RATE_LIMITED: too many requests for the connection are in flight; a signed body with too
   * many events came within the last 5 s; or the request is unsigned and the client's network has sent too
   * many of these
   * @throws AppError UNAVAILABLE: too many requests are in flight in this process
   */
  async receive({ channel, hookKey, request: received, response }: HookCall): Promise<void> {
    // Comes before the body is read, so that a request with an unknown hook key uses no memory for a body.
    const connection = await this.connections.loadByHookKey(channel, hookKey);
    if (!connection) return this.refuse(received, null);
    const request = await this.bodies.read(connection, received);
    const adapter = this.adapters.getHookedAdapter(channel);
    const signer = adapter.listSecrets(connection).find((secret) => adapter.verify(secret, request));
    // Unsigned requests are refused before they acquire a slot, so that they never block signed requests.
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
 * (POST) have separate counters, so that guessing verify tokens does not block events.
 *
 * @param connection null if the hook key is unknown; all unknown hook keys have one counter for each network
 */
function refusalsOf(request: Request, connection: Connection | null): string {
  return `hook-refused:${request.method}:${connection?.id ?? 'unknown'}:${clientNetworkOf(request)}`;
}
