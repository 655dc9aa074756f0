import { Injectable, Logger } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { isStorableText } from '../../common/validators';
import { isDatabaseAway } from '../../database/driver/database-errors';
import { Connection } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { isSameSecret } from '../adapters/constant-time';
import { customerIdsOf, HookEvent, InboundEvent, InboundReceipt } from '../adapters/hook-events';
import { ConnectionLoader, LoadedConnection } from '../connections/connection-loader';
import { ConnectionAlerts } from '../connections/connection-alerts';
import { NamedRecipients } from '../customers/named-recipients';
import { ReceiptsService } from '../receipts/receipts.service';
import { InboundService } from './inbound.service';
import { mergeWatermarks } from './merge-watermarks';
import { workInOrder } from './ordered-work';

/** Maximum number of a request's events that are stored at the same time. Each uses a database connection. */
const CONCURRENCY = 4;

/** Event that is stored in its own transaction. Receipts are stored in batches. */
type SingleEvent = Exclude<InboundEvent, InboundReceipt>;

/** Stores the events of a request to a hook. Each event names an account and is stored for its connection. */
@Injectable()
export class HookEventsService {
  private readonly logger = new Logger(HookEventsService.name);

  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly connections: ConnectionLoader,
    private readonly inbound: InboundService,
    private readonly receipts: ReceiptsService,
    private readonly recipients: NamedRecipients,
    private readonly alerts: ConnectionAlerts,
  ) {}

  /**
   * Stores all events of a request. If it throws, some may be missing, and the provider repeats all.
   * @param signer secret with which the request was signed
   */
  async store(connection: LoadedConnection, parsed: HookEvent[], signer: string): Promise<void> {
    const events = mergeWatermarks(this.withoutGroups(connection, parsed));
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
      await attempt(() => this.applyReceipts(owner, group));
      const named = group.map(({ recipientIds = [] }) => recipientIds);
      await attempt(() => this.recipients.link(owner, named));
    }
    this.throwFirst(errors);
  }

  private async applyReceipts(owner: LoadedConnection, receipts: InboundReceipt[]): Promise<void> {
    const failed = await this.receipts.applyReceipts(owner, receipts);
    const hasArrived = receipts.some(({ status }) => status === 'DELIVERED');
    await this.alerts.noteReplies(owner, { failed, hasArrived });
  }

  private async apply(owner: LoadedConnection, event: SingleEvent): Promise<void> {
    if (event.kind === 'message') await this.inbound.receive(owner, event);
    else if (event.kind === 'ids') await this.inbound.link(owner, event);
    else if (event.kind === 'echo' || event.kind === 'watermark') await this.receipts.apply(owner, event);
    else await this.inbound.change(owner, event);
  }

  /**
   * Finds the connections of the other accounts in a request, because an app at Meta can serve several
   * accounts. Returns only connections with the secret that signed the request, so that no workspace can
   * forge events of another workspace.
   */
  private async findOtherOwners(
    { channel, externalId }: Connection,
    events: InboundEvent[],
    signer: string,
  ): Promise<LoadedConnection[]> {
    const accounts = [...new Set(events.map(({ accountId }) => accountId))];
    const foreign = accounts.filter((account) => account !== externalId && isStorableText(account));
    if (foreign.length === 0) return [];
    const adapter = this.adapters.getHookedAdapter(channel);
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

  /** Throws one of the errors, preferably that of an unreachable database, and logs the rest. */
  private throwFirst(errors: unknown[]): void {
    if (errors.length === 0) return;
    const thrown = errors.find(isDatabaseAway) ?? errors[0];
    for (const err of errors.filter((error) => error !== thrown))
      this.logger.error({ err }, 'another event of the same request was not stored');
    throw thrown;
  }
}

function isReceipt(event: InboundEvent): event is InboundReceipt {
  return event.kind === 'receipt';
}

function isNoReceipt(event: InboundEvent): event is SingleEvent {
  return event.kind !== 'receipt';
}

/** Returns all ids of an event's customer. Events that share an id are stored one after the other. */
function idsOf(event: SingleEvent): [string, ...string[]] {
  if (event.kind === 'message') return customerIdsOf(event);
  if (event.kind === 'ids') return [...event.ids, ...event.previousIds];
  return 'customerIds' in event ? event.customerIds : [event.customerId];
}
