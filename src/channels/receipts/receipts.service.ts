import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryError, ReceiptStatus } from '../../messages/message-status';
import { Connection, InboundEcho, InboundReceipt, InboundWatermark } from '../adapters/channel-adapter';
import { deliveryError } from '../outbound/delivery-error';
import { MessageKey } from '../outbound/claimed-message';
import { OutboundMessageQueue } from '../outbound/outbound-message.queue';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { isUsableId } from '../adapters/provider-id';
import { MessageProgress } from '../outbound/message-progress';
import { ReceiptsRepository, UnsettledMessage } from './receipts.repository';

/** How far a message is, as the provider has told. */
interface Told {
  status: ReceiptStatus;
  error: DeliveryError | null;
}

/** What providers tell afterwards of the messages that we sent: late, twice, in any order, or before their answer. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly database: Database,
    private readonly progress: MessageProgress,
    private readonly store: ReceiptsRepository,
    private readonly dispatches: OutboundMessagesRepository,
    private readonly queue: OutboundMessageQueue,
  ) {}

  /** Applies what a connection's provider tells. The connection's own secret has verified it. */
  async apply(connection: Connection, event: InboundReceipt | InboundWatermark | InboundEcho): Promise<void> {
    if (!isApplicable(event)) return;
    await this.database.transaction(async (tx) => {
      if (event.kind === 'receipt') await this.applyReceipt(tx, connection, event);
      else if (event.kind === 'echo') await this.applyEcho(tx, connection, event);
      else await this.store.advanceUntil(tx, connection, event);
    });
  }

  private async applyReceipt(
    tx: Transaction,
    connection: Connection,
    receipt: InboundReceipt,
  ): Promise<void> {
    const { providerId, messageId, status, fault } = receipt;
    const error =
      status === 'FAILED'
        ? deliveryError(fault?.kind === 'WINDOW' ? 'WINDOW_CLOSED' : 'REFUSED', fault)
        : null;
    await this.progress.takeTurn(tx, connection, providerId);
    const known = await this.progress.find(tx, connection, providerId);
    if (known) return this.settle(tx, connection, known, { status, error });
    const named = await this.named(tx, connection, messageId);
    if (!named) return this.progress.keepEarly(tx, connection, providerId, status, error);
    await this.settle(tx, connection, named, { status, error });
    await this.progress.remember(tx, connection, named, providerId, named.createdAt);
  }

  /** Shows a message that our side has sent: ours, if we know it, or somebody's in the provider's own inbox. */
  private async applyEcho(tx: Transaction, connection: Connection, echo: InboundEcho): Promise<void> {
    const { providerId, messageId, customerId, body } = echo;
    await this.progress.takeTurn(tx, connection, providerId);
    if (await this.progress.find(tx, connection, providerId)) return;
    const message =
      (await this.named(tx, connection, messageId)) ??
      (body === null ? null : await this.store.findUnsettledByText(tx, connection, customerId, body));
    if (!message) return;
    await this.settle(tx, connection, message, { status: 'SENT', error: null });
    await this.progress.remember(tx, connection, message, providerId, message.createdAt);
  }

  /** A message of ours that the provider hands the id back of. It hands back whatever it was given: anything. */
  private async named(
    tx: Transaction,
    connection: Connection,
    messageId: string | null,
  ): Promise<UnsettledMessage | null> {
    return isId(messageId) ? this.store.findUnsettled(tx, connection, messageId) : null;
  }

  /** What was waiting for this, the conversation's next message or another attempt, waits no longer. */
  private async settle(
    tx: Transaction,
    connection: Connection,
    message: MessageKey,
    { status, error }: Told,
  ): Promise<void> {
    const dispatch = await this.dispatches.lock(tx, message);
    const before = await this.progress.advance(tx, message, status, error);
    const wasUnsettled = before === 'QUEUED' || before === 'SENDING' || before === 'UNKNOWN';
    // While an attempt is under way, whoever makes it ends it.
    if (!wasUnsettled || !dispatch || dispatch.isLeased) return;
    await this.dispatches.finish(tx, message);
    tx.onCommit(() => this.queue.wake([connection.id]));
  }
}

/** Whether it can be about a message of ours: it names one as they are named, or a time since there are any. */
function isApplicable(event: InboundReceipt | InboundWatermark | InboundEcho): boolean {
  if (event.kind === 'watermark') return isUsableId(event.customerId) && event.until.getTime() > 0;
  return isUsableId(event.providerId) && (event.kind === 'receipt' || isUsableId(event.customerId));
}
