import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { Channel, describeChannel } from '../../common/channel-descriptors';
import { isDatabaseAway } from '../../database/driver/database-errors';
import { groupBy } from '../../common/group-by';
import { isStorableText } from '../../common/validators';
import { Config } from '../../config/config';
import { RequestBodies } from '../../http/connections/request-bodies';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { Connection, HookedAdapter, HookRequest } from '../adapters/channel-adapter';
import { customerIdsOf, HookEvent, InboundEvent, InboundReceipt } from '../adapters/hook-events';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { isSameSecret } from '../adapters/constant-time';
import { ConnectionLoader, LoadedConnection } from '../connections/connection-loader';
import { ReceiptsService } from '../receipts/receipts.service';
import { NamedRecipients } from '../customers/named-recipients';
import { HookRefusals } from './hook-refusals';
import { InboundService } from './inbound.service';
import { workInOrder } from './ordered-work';
import { mergeWatermarks } from './merge-watermarks';

/**
 * Time in milliseconds for which a connection's requests are refused after a signed body of too many events,
 * because reading such bodies must not fill a process.
 */
const PAUSE_MS = 5_000;

/**
 * Number of one request's events that are stored at the same time. A body can hold thousands, and each takes
 * a database connection.
 */
const CONCURRENCY = 4;

/** Event that is stored by itself. Receipts are stored many at once. */
type SingleEvent = Exclude<InboundEvent, InboundReceipt>;

export interface HookCall {
  channel: Channel;
  hookKey: string;
  request: Request;
  response: Response;
}

/** Verifies the signatures of providers' requests to hooks, and stores the events in them. */
@Injectable()
export class HooksService {
  private readonly logger = new Logger(HooksService.name);
  /**
   * Connections whose requests are refused now, after one with too many events, each by id with the end of
   * its pause on the monotonic clock.
   */
  private readonly paused = new Map<string, number>();

  constructor(
    private readonly config: Config,
    private readonly adapters: ChannelAdapters,
    private readonly connections: ConnectionLoader,
    private readonly inbound: InboundService,
    private readonly receipts: ReceiptsService,
    private readonly recipients: NamedRecipients,
    private readonly refusals: HookRefusals,
    private readonly budgets: WorkBudgets,
    private readonly bodies: RequestBodies,
  ) {}

  /**
   * Answers a provider that verifies a hook's address.
   * @returns the provider's challenge
   * @throws AppError FORBIDDEN, RATE_LIMITED
   */
  async handshake(call: HookCall): Promise<string> {
    const connection = await this.connections.loadByHookKey(call.channel, call.hookKey);
    await this.refusals.count(call.request, connection);
    const challenge = connection && this.getAdapter(connection).handshake?.(connection, call.request.query);
    if (typeof challenge !== 'string')
      throw new AppError('FORBIDDEN', 'This is not the verify token of this address.');
    await this.refusals.giveBack(call.request, connection!);
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
  async receive(call: HookCall): Promise<void> {
    // Comes before the body is read, so that a caller without a hook's key holds no memory.
    const connection = await this.connections.loadByHookKey(call.channel, call.hookKey);
    if (!connection) return this.refuse(call, null);
    this.requireNoPause(connection);
    const request = this.toHookRequest(call.request, await this.readBody(call, connection));
    // Another body may have been too large while this one was read.
    this.requireNoPause(connection);
    const adapter = this.getAdapter(connection);
    const signer = adapter.listSecrets(connection).find((secret) => adapter.verify(secret, request));
    // A request that is not signed takes no slot from one that is.
    if (signer === undefined) return this.refuse(call, connection);
    const release = await this.budgets.acquire('hooks', connection.id, call.response);
    try {
      await this.store(connection, request, signer);
    } finally {
      release();
    }
  }

  private async refuse({ request }: HookCall, connection: Connection | null): Promise<never> {
    await this.refusals.count(request, connection);
    throw new AppError('UNAUTHENTICATED', 'The request is not signed as it must be.');
  }

  private async store(connection: LoadedConnection, request: HookRequest, signer: string): Promise<void> {
    const events = mergeWatermarks(this.withoutGroups(connection, this.parse(connection, request)));
    const others = await this.findOtherOwners(connection, events, signer);
    const owners = new Map([connection, ...others].map((owner) => [owner.externalId, owner]));
    this.reportUnowned(
      connection,
      events.filter(({ accountId }) => !owners.has(accountId)),
    );
    const errors: unknown[] = [];
    const attempt = async (work: () => Promise<unknown>) => {
      if (errors.some(isDatabaseAway)) return;
      await work().catch((error: unknown) => errors.push(error));
    };
    await workInOrder(events.filter(isNoReceipt), idsOf, CONCURRENCY, async (event) => {
      const owner = owners.get(event.accountId);
      if (!owner) return;
      await attempt(() => this.apply(owner, event));
    });
    const receipts = groupBy(events.filter(isReceipt), ({ accountId }) => accountId);
    for (const [accountId, group] of receipts) {
      const owner = owners.get(accountId);
      if (!owner) continue;
      await attempt(() => this.receipts.applyReceipts(owner, group));
      const named = group.map(({ recipientIds = [] }) => recipientIds);
      await attempt(() => this.recipients.link(owner, named));
    }
    this.throwFirst(errors);
  }

  private async apply(owner: LoadedConnection, event: SingleEvent): Promise<void> {
    if (event.kind === 'message') await this.inbound.receive(owner, event);
    else if (event.kind === 'ids') await this.inbound.link(owner, event);
    else if (event.kind === 'echo' || event.kind === 'watermark') await this.receipts.apply(owner, event);
    else await this.inbound.change(owner, event);
  }

  private async readBody({ channel, request }: HookCall, { id }: Connection): Promise<Buffer> {
    const { maxMebibytes } = describeChannel(channel).hook!.batch;
    return this.bodies
      .read(request, maxMebibytes * 1024 * 1024)
      .catch((error: unknown) => this.reportTooLarge(error, channel, id));
  }

  private parse(connection: Connection, request: HookRequest): HookEvent[] {
    const { channel, id } = connection;
    try {
      return this.getAdapter(connection).parse(
        connection,
        request,
        describeChannel(channel).hook!.batch.maxEvents,
      );
    } catch (error) {
      if (isTooLarge(error)) this.pause(id);
      return this.reportTooLarge(error, channel, id);
    }
  }

  private pause(connectionId: string): void {
    this.paused.set(connectionId, performance.now() + PAUSE_MS);
    setTimeout(() => this.paused.delete(connectionId), PAUSE_MS).unref();
  }

  private requireNoPause({ id }: Connection): void {
    const until = this.paused.get(id);
    if (until === undefined) return;
    const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1_000));
    throw AppError.rateLimited('A request for this connection had too many events.', seconds);
  }

  /** Logs a body that is larger than its provider documents: it would be sent again and again. */
  private reportTooLarge(error: unknown, channel: Channel, connectionId: string): never {
    if (isTooLarge(error))
      this.logger.warn({ channel, connectionId }, `a hook's request was refused: ${error.message}`);
    throw error;
  }

  /**
   * Finds the connections of the other accounts that a request has events of, as one app at Meta serves
   * several. An event counts only if its own account's secret signed the request, so that no workspace can
   * sign for another's account.
   */
  private async findOtherOwners(
    connection: Connection,
    events: InboundEvent[],
    signer: string,
  ): Promise<LoadedConnection[]> {
    const { channel, externalId } = connection;
    const accounts = [...new Set(events.map(({ accountId }) => accountId))];
    const foreign = accounts.filter((account) => account !== externalId && isStorableText(account));
    if (foreign.length === 0) return [];
    const adapter = this.getAdapter(connection);
    const found = await this.connections.loadByAccounts(channel, foreign);
    return found.filter((other) => adapter.listSecrets(other).some((secret) => isSameSecret(secret, signer)));
  }

  private withoutGroups({ channel, id: connectionId }: Connection, events: HookEvent[]): InboundEvent[] {
    const kept = events.filter((event) => event.kind !== 'group');
    const ignored = events.length - kept.length;
    if (ignored > 0)
      this.logger.log({ channel, connectionId, messages: ignored }, 'messages of groups were ignored');
    return kept;
  }

  private reportUnowned({ channel, id: connectionId }: Connection, events: InboundEvent[]): void {
    if (events.length === 0) return;
    const accounts = new Set(events.map(({ accountId }) => accountId)).size;
    const details = { channel, connectionId, events: events.length, accounts };
    this.logger.log(details, 'events ignored: their accounts are not connected, or have another secret');
  }

  /**
   * Throws one of the errors with which storing events failed, UNAVAILABLE before the others because it names
   * the cause. Logs the rest.
   */
  private throwFirst(errors: unknown[]): void {
    if (errors.length === 0) return;
    const thrown = errors.find(isDatabaseAway) ?? errors[0];
    for (const err of errors.filter((error) => error !== thrown))
      this.logger.error({ err }, 'another event of the same request was not stored');
    throw thrown;
  }

  private getAdapter({ channel }: Connection): HookedAdapter {
    const adapter = this.adapters.getHookedAdapter(channel);
    if (!adapter) throw new Error(`${channel} has no hooks`);
    return adapter;
  }

  private toHookRequest({ originalUrl, headers }: Request, rawBody: Buffer): HookRequest {
    return { url: `${this.config.publicUrl}${originalUrl}`, headers, rawBody };
  }
}

function isTooLarge(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE';
}

function isReceipt(event: InboundEvent): event is InboundReceipt {
  return event.kind === 'receipt';
}

function isNoReceipt(event: InboundEvent): event is SingleEvent {
  return event.kind !== 'receipt';
}

/** Returns all ids of an event's customer: the events of one customer are stored in order. */
function idsOf(event: SingleEvent): [string, ...string[]] {
  if (event.kind === 'message') return customerIdsOf(event);
  if (event.kind === 'ids') return [...event.ids, ...event.previousIds];
  return 'customerIds' in event ? event.customerIds : [event.customerId];
}
