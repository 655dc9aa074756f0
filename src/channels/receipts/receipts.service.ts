import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryError, ReceiptStatus } from '../../messages/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Connection } from '../adapters/channel-adapter';
import { InboundEcho, InboundReceipt, InboundWatermark } from '../adapters/hook-events';
import { isUsableId } from '../adapters/provider-values';
import { deliveryError } from '../outbound/delivery-error';
import { OUTBOUND_MESSAGE_QUEUE } from '../outbound/outbound-message-queue';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { AppliedReceipt, ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { ReceiptsRepository, UnsettledMessage, WATERMARK_STEP } from './receipts.repository';

/**
 * Limit of receipts in one transaction: each holds an advisory lock, of which a server has 6400 by default.
 */
const STEP = 100;

/**
 * Applies providers' reports on sent messages: late, twice, in any order, or before the answer to the
 * request.
 */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly database: Database,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
    private readonly receipts: ReceiptsRepository,
    private readonly outboundMessages: OutboundMessagesRepository,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) private readonly wakeUps: WakeUpQueue,
  ) {}

  /**
   * Applies an event.
   * @param event one of an account whose own secret has verified it
   */
  async apply(connection: Connection, event: InboundWatermark | InboundEcho): Promise<void> {
    if (!isApplicable(event)) return;
    if (event.kind === 'watermark') return this.applyWatermark(connection, event);
    await this.database.transaction((tx) => this.applyEcho(tx, connection, withOwnId(event)));
  }

  /**
   * Applies many receipts in bounded steps. One statement advances sent messages, and one keeps the receipts
   * that came before their message's id.
   * @param receipts receipts of one account, whose own secret has verified them
   */
  async applyReceipts(connection: Connection, receipts: InboundReceipt[]): Promise<void> {
    const applicable = receipts.filter(isApplicable).map(withOwnId);
    for (let at = 0; at < applicable.length; at += STEP) {
      const step = applicable.slice(at, at + STEP);
      await this.database.transaction((tx) => this.applyStep(tx, connection, step));
    }
  }

  private async applyWatermark(connection: Connection, watermark: InboundWatermark): Promise<void> {
    let advanced: number;
    do {
      advanced = await this.database.queueTransaction((tx) =>
        this.receipts.advanceUntil(tx, connection, watermark),
      );
    } while (advanced >= WATERMARK_STEP);
  }

  private async applyStep(
    tx: Transaction,
    connection: Connection,
    receipts: InboundReceipt[],
  ): Promise<void> {
    const ids = [...new Set(receipts.map(({ providerId }) => providerId))];
    await this.providerIds.lock(tx, connection, ids);
    const special = await this.receipts.findSpecial(tx, connection, receipts);
    const isSpecial = ({ providerId }: InboundReceipt) => special.has(providerId);
    const usual = receipts.filter((receipt) => !isSpecial(receipt)).map(withError);
    await this.receipts.advanceAll(tx, connection, usual);
    await this.providerIds.insertEarlyReceipts(tx, connection, usual);
    for (const receipt of receipts.filter(isSpecial)) await this.applyReceipt(tx, connection, receipt);
  }

  private async applyReceipt(
    tx: Transaction,
    connection: Connection,
    receipt: InboundReceipt,
  ): Promise<void> {
    const { providerId, messageId, status } = receipt;
    const { error } = withError(receipt);
    const known = await this.providerIds.findMessage(tx, connection, providerId);
    if (known) return this.settle(tx, connection, known, status, error);
    const message = await this.findByOwnId(tx, connection, messageId);
    if (!message)
      return this.providerIds.insertEarlyReceipts(tx, connection, [{ providerId, status, error }]);
    await this.settle(tx, connection, message, status, error);
    await this.providerIds.insertSent(tx, connection, message, providerId, message.createdAt);
  }

  /** Applies an echo. Its message may also be from a person who uses the provider's own inbox. */
  private async applyEcho(tx: Transaction, connection: Connection, echo: InboundEcho): Promise<void> {
    const { providerId, messageId, customerId, body } = echo;
    await this.providerIds.lock(tx, connection, [providerId]);
    if (await this.providerIds.findMessage(tx, connection, providerId)) return;
    const message =
      (await this.findByOwnId(tx, connection, messageId)) ??
      (body === null ? null : await this.receipts.findUnsettledByText(tx, connection, customerId, body));
    if (!message) return;
    await this.settle(tx, connection, message, 'SENT', null);
    await this.providerIds.insertSent(tx, connection, message, providerId, message.createdAt);
  }

  private async findByOwnId(
    tx: Transaction,
    connection: Connection,
    messageId: string | null,
  ): Promise<UnsettledMessage | null> {
    return messageId === null ? null : this.receipts.findUnsettled(tx, connection, messageId);
  }

  /**
   * Advances a message, and ends its pending retry or hold, so that the conversation's next message is sent.
   */
  private async settle(
    tx: Transaction,
    connection: Connection,
    message: MessageKey,
    status: ReceiptStatus,
    error: DeliveryError | null,
  ): Promise<void> {
    const outbound = await this.outboundMessages.lock(tx, message);
    const before = await this.statuses.advance(tx, message, status, error);
    const wasUnsettled = before === 'QUEUED' || before === 'SENDING' || before === 'UNKNOWN';
    // The worker that holds the lease finishes the message.
    if (!wasUnsettled || !outbound || outbound.isLeased) return;
    this.outboundMessages.finish(tx, message);
    const { tenantId, id } = connection;
    tx.onCommit(() => this.wakeUps.wake([{ tenantId, id }]));
  }
}

function withError({ providerId, status, fault }: InboundReceipt): AppliedReceipt {
  if (status !== 'FAILED') return { providerId, status, error: null };
  const code = fault?.kind === 'WINDOW' ? 'WINDOW_CLOSED' : 'REFUSED';
  return { providerId, status, error: deliveryError(code, fault) };
}

/** Returns an event without its message id if that is none of the service's: a provider may send any text. */
function withOwnId<Event extends InboundReceipt | InboundEcho>(event: Event): Event {
  return isId(event.messageId) ? event : { ...event, messageId: null };
}

/** Reports whether an event's ids can be stored and its time is valid. */
function isApplicable(event: InboundReceipt | InboundWatermark | InboundEcho): boolean {
  if (event.kind === 'watermark') return isUsableId(event.customerId) && event.until.getTime() > 0;
  return isUsableId(event.providerId) && (event.kind === 'receipt' || isUsableId(event.customerId));
}
