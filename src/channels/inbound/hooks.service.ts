import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { Channel } from '../../common/channel';
import { isDatabaseAway } from '../../common/database-errors';
import { isStorableText } from '../../common/validators';
import { Config } from '../../config/config';
import { RateLimit, RateLimiter } from '../../rate-limit/rate-limiter';
import { Connection, HookedAdapter, HookRequest, InboundEvent } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection.loader';
import { ReceiptsService } from '../receipts/receipts.service';
import { InboundService } from './inbound.service';
import { workInLanes } from './lanes';

/** By client address, against guessing. Signed requests are never limited. */
const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused requests.' };

/** Events of one request in progress: a body can hold thousands. */
const CONCURRENCY = 8;

export interface HookCall {
  channel: Channel;
  hookKey: string;
  request: Request;
  response: Response;
}

/** Verifies and stores providers' events. */
@Injectable()
export class HooksService {
  private readonly logger = new Logger(HooksService.name);

  constructor(
    private readonly config: Config,
    private readonly adapters: ChannelAdapters,
    private readonly connections: ConnectionLoader,
    private readonly inbound: InboundService,
    private readonly receipts: ReceiptsService,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Verifies the hook's address for a provider.
   * @returns the provider's challenge
   * @throws AppError FORBIDDEN, RATE_LIMITED
   */
  async handshake(call: HookCall): Promise<string> {
    const connection = await this.connections.byHookKey(call.channel, call.hookKey);
    const challenge = connection && this.adapterOf(connection).handshake?.(connection, call.request.query);
    if (typeof challenge === 'string') return challenge;
    throw await this.refusal(
      call,
      new AppError('FORBIDDEN', 'This is not the verify token of this address.'),
    );
  }

  /**
   * Stores all events of one request. When it throws, some may be missing, and the provider sends all of them again.
   * @throws AppError UNAUTHENTICATED (also for an unknown address), INVALID_BODY, RATE_LIMITED
   */
  async receive(call: HookCall): Promise<void> {
    const request = this.hookRequestOf(call.request);
    const connection = await this.connections.byHookKey(call.channel, call.hookKey);
    if (!connection || !this.adapterOf(connection).verify(connection, request)) {
      throw await this.refusal(
        call,
        new AppError('UNAUTHENTICATED', 'The request is not signed as it must be.'),
      );
    }
    const adapter = this.adapterOf(connection);
    const events = adapter.parse(connection, request);
    const others = await this.othersOf(connection, events, (other) => adapter.verify(other, request));
    const owners = new Map([connection, ...others].map((owner) => [owner.externalId, owner]));
    this.reportUnowned(
      connection,
      events.filter(({ accountId }) => !owners.has(accountId)),
    );
    const errors: unknown[] = [];
    await workInLanes(events, laneOf, CONCURRENCY, async (event) => {
      const owner = owners.get(event.accountId);
      if (!owner || errors.some(isDatabaseAway)) return;
      const stored =
        event.kind === 'message' ? this.inbound.receive(owner, event) : this.receipts.apply(owner, event);
      await stored.catch((error: unknown) => errors.push(error));
    });
    this.throwFirst(errors);
  }

  /**
   * The connections of other accounts in the request. An event counts only if its account's own secret signed the
   * request, so that no workspace can sign for another's account.
   */
  private async othersOf(
    connection: Connection,
    events: InboundEvent[],
    isSigned: (other: Connection) => boolean,
  ): Promise<LoadedConnection[]> {
    const { channel, externalId } = connection;
    const accounts = [...new Set(events.map(({ accountId }) => accountId))];
    const foreign = accounts.filter((account) => account !== externalId && isStorableText(account));
    if (foreign.length === 0) return [];
    return (await this.connections.byAccounts(channel, foreign)).filter(isSigned);
  }

  private reportUnowned({ channel, id: connectionId }: Connection, events: InboundEvent[]): void {
    if (events.length === 0) return;
    const accounts = new Set(events.map(({ accountId }) => accountId)).size;
    const details = { channel, connectionId, events: events.length, accounts };
    this.logger.log(details, 'events ignored: their accounts are not connected, or have another secret');
  }

  /** Any error makes the provider send everything again, but UNAVAILABLE names the cause. */
  private throwFirst(errors: unknown[]): void {
    if (errors.length === 0) return;
    const thrown = errors.find(isDatabaseAway) ?? errors[0];
    for (const err of errors.filter((error) => error !== thrown))
      this.logger.error({ err }, 'another event of the same request was not stored');
    throw thrown;
  }

  private adapterOf({ channel }: Connection): HookedAdapter {
    const adapter = this.adapters.hooked(channel);
    if (!adapter) throw new Error(`${channel} has no hooks`);
    return adapter;
  }

  private async refusal({ request, response }: HookCall, error: AppError): Promise<AppError> {
    await this.limiter.count(`hook-refused:${request.ip ?? 'unknown'}`, REFUSALS, response);
    return error;
  }

  /** The raw parser sets no body on an empty request. */
  private hookRequestOf({ originalUrl, headers, body }: Request): HookRequest {
    const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    return { url: `${this.config.publicUrl}${originalUrl}`, headers, rawBody };
  }
}

/** Events of one customer, and receipts of one message, keep their order. */
function laneOf(event: InboundEvent): string {
  if (event.kind === 'message') return event.customer.externalId;
  return event.kind === 'receipt' ? event.providerId : event.customerId;
}
