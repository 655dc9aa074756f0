import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { AnswersElsewhere } from '../../conversations/answers-elsewhere';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryError, ReceiptStatus } from '../../common/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Connection } from '../adapters/channel-adapter';
import { InboundEcho, InboundReceipt, InboundWatermark } from '../adapters/hook-events';
import { isUsableId } from '../adapters/provider-values';
import { deliveryError } from '../outbound/delivery-error';
import { OUTBOUND_MESSAGE_QUEUE } from '../outbound/claimed-message';
import { TARGET_DUE } from '../../queue/targets';
import { RedisSignals } from '../../redis/redis-signals';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { PartReceipts } from '../outbound/parts/part-receipts';
import { AppliedReceipt, ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { ReceiptsRepository, UnsettledMessage, WATERMARK_STEP } from './receipts.repository';

/** Maximum number of receipts in a transaction, because each takes one of PostgreSQL's 6400 locks. */
const STEP = 100;

/**
 * Applies receipts, watermarks (receipts for all messages up to a time) and echoes (reports of sent
 * messages). They may be late, repeated or out of order, or precede the response to the send request.
 */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly database: Database,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
    private readonly receipts: ReceiptsRepository,
    private readonly parts: PartReceipts,
    private readonly outboundMessages: OutboundMessagesRepository,
    private readonly answers: AnswersElsewhere,
    private readonly signals: RedisSignals,
  ) {}

  /** Applies a watermark or an echo, which must be verified with the secret of its own account. */
  async apply(connection: Connection, event: InboundWatermark | InboundEcho): Promise<void> {
    if (!isApplicable(event)) return;
    if (event.kind === 'watermark') return this.applyWatermark(connection, event);
    await this.database.transaction((tx) => this.applyEcho(tx, connection, withOwnId(event)));
  }

  /**
   * Applies receipts of the connection's account in bounded transactions.
   * @param receipts must be verified with the account's own secret
   * @returns the number of messages that have failed, without those with files
   */
  async applyReceipts(connection: Connection, receipts: InboundReceipt[]): Promise<number> {
    const applicable = receipts.filter(isApplicable).map(withOwnId);
    let failed = 0;
    for (let at = 0; at < applicable.length; at += STEP) {
      const step = applicable.slice(at, at + STEP);
      failed += await this.database.transaction((tx) => this.applyStep(tx, connection, step));
    }
    return failed;
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
  ): Promise<number> {
    const ids = [...new Set(receipts.map(({ providerId }) => providerId))];
    await this.providerIds.lock(tx, connection, ids);
    const special = await this.receipts.findSpecial(tx, connection, receipts);
    const isSpecial = ({ providerId }: InboundReceipt) => special.has(providerId);
    const usual = receipts.filter((receipt) => !isSpecial(receipt)).map(withError);
    const failed = await this.receipts.advanceAll(tx, connection, usual);
    await this.providerIds.insertEarlyReceipts(tx, connection, usual);
    for (const receipt of receipts.filter(isSpecial)) {
      const isApplied =
        special.get(receipt.providerId) === true &&
        (await this.parts.apply(tx, connection, { ...receipt, ...withError(receipt) }));
      if (!isApplied) await this.applyReceipt(tx, connection, receipt);
    }
    return failed;
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

  /** Applies an echo. If a person has answered in the provider's own inbox, the customer waits no more. */
  private async applyEcho(tx: Transaction, connection: Connection, echo: InboundEcho): Promise<void> {
    const { providerId, messageId, customerId, body, at } = echo;
    await this.providerIds.lock(tx, connection, [providerId]);
    if (await this.providerIds.findMessage(tx, connection, providerId)) return;
    const own = await this.findByOwnId(tx, connection, messageId);
    const sent = { providerId, messageId, status: 'SENT', error: null } as const;
    if (!own && messageId !== null && (await this.parts.apply(tx, connection, sent))) return;
    const message =
      own ??
      (body === null ? null : await this.receipts.findUnsettledByText(tx, connection, customerId, body));
    if (!message) {
      const { tenantId, channel } = connection;
      const customer = { tenantId, channel, externalId: customerId };
      return this.answers.note(tx, customer, at ?? new Date());
    }
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

  /** Sets a message's status. Removes its retry or hold, so that the conversation's next message is sent. */
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
    // A leased message stays in the queue, because the worker that holds the lease removes it.
    if (!wasUnsettled || !outbound || outbound.isLeased) return;
    this.outboundMessages.finish(tx, message);
    const { tenantId, id } = connection;
    const due = { queue: OUTBOUND_MESSAGE_QUEUE, target: { tenantId, id } };
    tx.onCommit(() => this.signals.send(TARGET_DUE, tenantId, due));
  }
}

function withError({ providerId, status, fault }: InboundReceipt): AppliedReceipt {
  if (status !== 'FAILED') return { providerId, status, error: null };
  const code = fault?.kind === 'WINDOW' ? 'WINDOW_CLOSED' : 'REFUSED';
  return { providerId, status, error: deliveryError(code, fault) };
}

/** Removes a message id that is not a UUID, because providers can send any text in this field. */
function withOwnId<Event extends InboundReceipt | InboundEcho>(event: Event): Event {
  return isId(event.messageId) ? event : { ...event, messageId: null };
}

/** Reports whether an event's ids can be stored and its time is valid. */
function isApplicable(event: InboundReceipt | InboundWatermark | InboundEcho): boolean {
  if (event.kind === 'watermark') return isUsableId(event.customerId) && event.until.getTime() > 0;
  return isUsableId(event.providerId) && (event.kind === 'receipt' || isUsableId(event.customerId));
}
