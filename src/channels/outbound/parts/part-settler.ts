import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../database/transaction';
import { DeliveryError, ReceiptStatus } from '../../../common/message-status';
import { MessageKey, MessageStatusRepository } from '../../../messages/message-status.repository';
import { Connection } from '../../adapters/channel-adapter';
import { ProviderIdsRepository } from '../../provider-ids/provider-ids.repository';
import { deliveryError } from '../delivery-error';
import { MAX_MESSAGE_ATTEMPTS } from '../send-result';
import { MessagePart, PartsSum, sumOfParts } from './message-part';
import { MessagePartsRepository } from './message-parts.repository';

/** Derives the status of messages with files from their parts. */
@Injectable()
export class PartSettler {
  constructor(
    private readonly parts: MessagePartsRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
  ) {}

  /**
   * Gives a message the sum of its parts.
   * @returns the sum; null while a part is open
   */
  async settle(tx: Transaction, key: MessageKey): Promise<PartsSum | null> {
    const sum = sumOfParts(await this.parts.list(tx, key));
    if (sum) await this.statuses.advance(tx, key, sum.status, sum.error);
    return sum;
  }

  /**
   * Ends the attempt of a worker that was killed. The part that it was sending may have arrived.
   * @returns whether a part may have arrived, and whether parts are still to be sent
   */
  async endAttempt(tx: Transaction, key: MessageKey): Promise<{ isUnknown: boolean; isOver: boolean }> {
    const parts = await this.parts.list(tx, key);
    const isUnknown = parts.some(({ status }) => status === 'SENDING');
    if (isUnknown) {
      const error = deliveryError('OUTCOME_UNKNOWN');
      await this.parts.replaceStatus(tx, key, { from: 'SENDING', to: 'UNKNOWN', error });
    }
    const next = parts.find(({ status }) => status === 'QUEUED');
    const isGivenUp = !isUnknown && next !== undefined && (await this.countAttempt(tx, next));
    // Without parts, the worker was killed before it had planned them, and has sent nothing.
    const isOver = parts.length > 0 && (next === undefined || isGivenUp);
    if (isOver) await this.settle(tx, key);
    return { isUnknown, isOver };
  }

  /**
   * Counts an attempt whose worker was killed before the part was sent. A part that kills each worker must
   * not do so for ever.
   * @returns whether it was the last attempt, so that the message's open parts have failed
   */
  private async countAttempt(tx: Transaction, part: MessagePart): Promise<boolean> {
    if (part.attemptCount + 1 < MAX_MESSAGE_ATTEMPTS) {
      await this.parts.requeue(tx, part);
      return false;
    }
    const error = deliveryError('RETRIES_EXHAUSTED');
    await this.parts.replaceStatus(tx, part, { from: 'QUEUED', to: 'FAILED', error });
    return true;
  }

  /** Sets a part that was sent to SENT, with the provider's id, and applies receipts that came before. */
  async setSent(
    tx: Transaction,
    connection: Connection,
    part: MessagePart,
    providerId: string | null,
    sentAt: Date,
  ): Promise<void> {
    await this.parts.advance(tx, part, 'SENT');
    if (providerId === null) return;
    await this.parts.setProviderId(tx, part, connection.id, providerId);
    const early = await this.providerIds.storeSent(tx, connection, part, providerId, sentAt);
    for (const { status, error } of early) await this.parts.advance(tx, part, status, error);
  }

  /** Applies a receipt to a part. The caller must hold the lock of the provider's id. */
  async applyReceipt(
    tx: Transaction,
    connection: Connection,
    part: MessagePart,
    receipt: { providerId: string; status: ReceiptStatus; error: DeliveryError | null },
  ): Promise<{ isOver: boolean }> {
    const { providerId, status, error } = receipt;
    if (part.providerId === null) await this.setSent(tx, connection, part, providerId, part.createdAt);
    await this.parts.advance(tx, part, status, error);
    return { isOver: (await this.settle(tx, part)) !== null };
  }
}
