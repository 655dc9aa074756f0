import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../database/transaction';
import { MessageStatusRepository } from '../../../messages/message-status.repository';
import { ChannelAdapter, SendOutcome } from '../../adapters/channel-adapter';
import { ChannelConnectionsRepository } from '../../connections/channel-connections.repository';
import { ConnectionChanges } from '../../connections/connection-changes';
import { ProviderIdsRepository } from '../../provider-ids/provider-ids.repository';
import { ClaimedMessage } from '../claimed-message';
import { OutboundMessagesRepository } from '../outbound-messages.repository';
import { deliveryError } from '../delivery-error';
import { decideResult, SendResult } from '../send-result';
import { MessagePart, PartsSum } from './message-part';
import { MessagePartsRepository } from './message-parts.repository';
import { PartSettler } from './part-settler';

/** Outcome of a message's part, as its worker and the metrics see it. */
export type PartResult =
  | SendResult
  /** The part has ended, and the message's next part is due after `delayMs` milliseconds. */
  | { status: 'CONTINUED'; delayMs: number }
  // LOST: another worker has the message now.
  | { status: 'LOST' };

/** Writes the outcome of a part, and its consequences for the message. */
@Injectable()
export class PartRecorder {
  constructor(
    private readonly parts: MessagePartsRepository,
    private readonly settler: PartSettler,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
    private readonly connections: ChannelConnectionsRepository,
    private readonly connectionChanges: ConnectionChanges,
  ) {}

  async write(
    tx: Transaction,
    message: ClaimedMessage,
    part: MessagePart,
    given: SendOutcome,
    adapter: ChannelAdapter,
  ): Promise<PartResult> {
    const { connection } = message;
    const outcome =
      given.kind === 'REAUTH' && !(await this.connectionChanges.markReauthRequired(tx, connection))
        ? // The credentials were rotated during the attempt, so it is retried with the new ones.
          ({ kind: 'RETRY', fault: given.fault } as const)
        : given;
    const result = decideResult(outcome, adapter, part.attemptCount);
    if (result.status === 'SENT' && result.providerId !== null)
      await this.providerIds.lock(tx, connection, [result.providerId]);
    const isHeld = await this.messages.extendLease(tx, message);
    if (!isHeld) await this.messages.lock(tx, message);
    await this.writePart(tx, message, part, result);
    const sum = await this.settler.settle(tx, message);
    if (!isHeld) return { status: 'LOST' };
    if (sum) return this.finish(tx, message, result, sum);
    if ((await this.parts.list(tx, message)).length === 0) return this.finishErased(tx, message, result);
    return this.goOn(tx, message, result);
  }

  /** Ends the attempt at a part that must not be sent. */
  async giveBack(tx: Transaction, message: ClaimedMessage): Promise<PartResult> {
    if (!(await this.messages.extendLease(tx, message))) return { status: 'LOST' };
    if ((await this.parts.list(tx, message)).length > 0) return this.goOn(tx, message, null);
    const error = deliveryError('ERASED');
    await this.statuses.advance(tx, message, 'FAILED', error);
    this.messages.finish(tx, message);
    return { status: 'FAILED', error };
  }

  /** Ends a message that has no part left to send. */
  async end(tx: Transaction, message: ClaimedMessage): Promise<PartResult> {
    await this.messages.lock(tx, message);
    const sum = await this.settler.settle(tx, message);
    this.messages.finish(tx, message, { leaseId: message.leaseId });
    return sum ? resultOf(sum, 0) : { status: 'LOST' };
  }

  private async writePart(
    tx: Transaction,
    message: ClaimedMessage,
    part: MessagePart,
    result: SendResult,
  ): Promise<void> {
    const { connection, claimedAt } = message;
    if (result.status === 'SENT')
      return this.settler.setSent(tx, connection, part, result.providerId, claimedAt);
    const { error } = result;
    if (result.status === 'SENDING') return this.parts.requeue(tx, part);
    await this.parts.advance(tx, part, result.status, error);
    // A reason that is not in the part itself concerns the other parts too.
    if (result.status === 'FAILED' && error.code !== 'REFUSED')
      await this.parts.replaceStatus(tx, message, { from: 'QUEUED', to: 'FAILED', error });
  }

  private finish(tx: Transaction, message: ClaimedMessage, result: SendResult, sum: PartsSum): PartResult {
    const holdMs = 'holdMs' in result ? result.holdMs : 0;
    this.messages.finish(tx, message, { holdMs });
    return resultOf(sum, holdMs);
  }

  /** Ends a message that was erased while a part of it was sent. Nothing else of it can be sent. */
  private async finishErased(
    tx: Transaction,
    message: ClaimedMessage,
    result: SendResult,
  ): Promise<PartResult> {
    const sum: PartsSum =
      result.status === 'SENT'
        ? { status: 'SENT', error: null }
        : { status: result.status === 'SENDING' ? 'FAILED' : result.status, error: deliveryError('ERASED') };
    await this.statuses.advance(tx, message, sum.status, sum.error);
    return this.finish(tx, message, result, sum);
  }

  /** Releases the message for its next part, or for a retry of this one. */
  private async goOn(
    tx: Transaction,
    message: ClaimedMessage,
    result: SendResult | null,
  ): Promise<PartResult> {
    if (result?.status !== 'SENDING') {
      const delayMs = result && 'holdMs' in result ? result.holdMs : 0;
      await this.messages.scheduleRetry(tx, message, delayMs);
      return { status: 'CONTINUED', delayMs };
    }
    const { error, retryDelayMs, pauseMs } = result;
    if (pauseMs > 0) await this.connections.pause(tx, message.connection, pauseMs);
    await this.messages.scheduleRetry(tx, message, retryDelayMs);
    await this.statuses.recordError(tx, message, error);
    return result;
  }
}

/** Returns the result of a message with this sum. A receipt may have taken it beyond SENT. */
function resultOf({ status, error }: PartsSum, holdMs: number): PartResult {
  if (status === 'FAILED') return { status, error: error! };
  if (status === 'UNKNOWN') return { status, error: error!, holdMs };
  return { status: 'SENT', providerId: null, holdMs };
}
