import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { Channel } from '../../common/channel';
import { isDatabaseAway } from '../../common/database-errors';
import { isStorableText } from '../../common/validators';
import { RateLimit, RateLimiter } from '../../rate-limit/rate-limiter';
import { Connection, HookedAdapter, HookRequest, InboundEvent } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection.loader';
import { ReceiptsService } from '../receipts/receipts.service';
import { InboundService } from './inbound.service';
import { workInLanes } from './lanes';

const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused requests.' };

/** Events of one request that are taken in at once: a body can hold thousands, and others need the database too. */
const AT_ONCE = 8;

/** What calls one of our hooks, and how it is answered. */
export interface HookCall {
  channel: Channel;
  hookKey: string;
  request: Request;
  response: Response;
}

/** Takes in what providers send, once they have proved that they sent it. */
@Injectable()
export class HooksService {
  private readonly logger = new Logger(HooksService.name);

  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly connections: ConnectionLoader,
    private readonly inbound: InboundService,
    private readonly receipts: ReceiptsService,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Answers a provider that asks whether the address is ours.
   * @returns what it wants to read
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
   * Takes in one request of a provider, which may tell of many things. When it returns, all of them are stored; when it
   * throws, some may not be, and the provider is to send all of them again.
   * @throws AppError UNAUTHENTICATED (also for an address that there is not), INVALID_BODY, RATE_LIMITED
   */
  async receive(call: HookCall): Promise<void> {
    const request = hookRequestOf(call.request);
    const connection = await this.connections.byHookKey(call.channel, call.hookKey);
    if (!connection || !this.adapterOf(connection).verify(connection, request)) {
      throw await this.refusal(
        call,
        new AppError('UNAUTHENTICATED', 'The request is not signed as it must be.'),
      );
    }
    const adapter = this.adapterOf(connection);
    const events = adapter.parse(connection, parsed(request.rawBody));
    const others = await this.othersOf(connection, events, (other) => adapter.verify(other, request));
    const owners = new Map([connection, ...others].map((owner) => [owner.externalId, owner]));
    this.reportUnowned(
      connection,
      events.filter(({ accountId }) => !owners.has(accountId)),
    );
    const faults: unknown[] = [];
    await workInLanes(events, laneOf, AT_ONCE, async (event) => {
      const owner = owners.get(event.accountId);
      if (!owner || faults.some(isDatabaseAway)) return;
      await this.handle(owner, event).catch((error: unknown) => faults.push(error));
    });
    this.report(faults);
  }

  /**
   * A provider may send what is about several accounts to one address. It counts for those whose own secret has signed
   * it, so that no workspace can sign for another's account.
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

  /** The line by which an operator finds out that an account is not connected, or has another secret. */
  private reportUnowned({ channel, id: connectionId }: Connection, events: InboundEvent[]): void {
    if (events.length === 0) return;
    const accounts = new Set(events.map(({ accountId }) => accountId)).size;
    const what = { channel, connectionId, events: events.length, accounts };
    this.logger.log(
      what,
      'events were left out: of accounts not connected, or connected with another secret',
    );
  }

  private async handle(connection: LoadedConnection, event: InboundEvent): Promise<void> {
    if (event.kind === 'message') await this.inbound.take(connection, event);
    else await this.receipts.apply(connection, event);
  }

  /** One fault is the answer to all: whatever it is, the provider sends everything again. */
  private report(faults: unknown[]): void {
    if (faults.length === 0) return;
    const answer = faults.find(isDatabaseAway) ?? faults[0];
    for (const err of faults.filter((fault) => fault !== answer))
      this.logger.error({ err }, 'another part of a refused request could not be stored either');
    throw answer;
  }

  private adapterOf({ channel }: Connection): HookedAdapter {
    const adapter = this.adapters.hooked(channel);
    if (!adapter) throw new Error(`${channel} has no hooks`);
    return adapter;
  }

  /** Counts by the caller's address, so that secrets can't be guessed fast. Who signs well is never held up. */
  private async refusal({ request, response }: HookCall, error: AppError): Promise<AppError> {
    await this.limiter.count(`hook-refused:${request.ip ?? 'unknown'}`, REFUSALS, response);
    return error;
  }
}

/** What is about one customer, or about one message, counts in the order it came. */
function laneOf(event: InboundEvent): string {
  if (event.kind === 'message') return event.customer.externalId;
  return event.kind === 'receipt' ? event.providerId : event.customerId;
}

/** The raw parser leaves no body at all where none was sent. */
function hookRequestOf({ headers, body }: Request): HookRequest {
  return { headers, rawBody: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}

function parsed(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString()) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
