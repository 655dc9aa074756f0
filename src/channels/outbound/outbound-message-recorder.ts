import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { MessageStatusRepository } from '../../messages/message-status.repository';
import { ChannelAdapter } from '../adapters/channel-adapter';
import { ChannelConnectionsRepository } from '../connections/channel-connections.repository';
import { ConnectionChanges } from '../connections/connection-changes';
import { ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { MessageOutcome, SendResult, decideResult } from './send-result';

/** Writes an attempt's consequences: the message's status, its row in the queue, its connection's state. */
@Injectable()
export class OutboundMessageRecorder {
  constructor(
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
    private readonly connections: ChannelConnectionsRepository,
    private readonly connectionChanges: ConnectionChanges,
  ) {}

  async write(
    tx: Transaction,
    message: ClaimedMessage,
    given: MessageOutcome,
    adapter: ChannelAdapter,
  ): Promise<SendResult> {
    const outcome =
      given.kind === 'REAUTH' && !(await this.connectionChanges.markReauthRequired(tx, message.connection))
        ? // The credentials were rotated during the attempt, so it is retried with the new ones.
          ({ kind: 'RETRY', fault: given.fault } as const)
        : given;
    const result = decideResult(outcome, adapter, message.attemptCount);
    if (result.status === 'SENDING') await this.scheduleRetry(tx, message, result);
    else await this.finish(tx, message, result);
    return result;
  }

  private async scheduleRetry(
    tx: Transaction,
    message: ClaimedMessage,
    { error, retryDelayMs, pauseMs }: SendResult & { status: 'SENDING' },
  ): Promise<void> {
    if (pauseMs > 0) await this.connections.pause(tx, message.connection, pauseMs);
    await this.messages.scheduleRetry(tx, message, retryDelayMs);
    await this.statuses.recordError(tx, message, error);
  }

  private async finish(
    tx: Transaction,
    message: ClaimedMessage,
    result: Exclude<SendResult, { status: 'SENDING' }>,
  ): Promise<void> {
    const { connection, claimedAt } = message;
    const providerId = result.status === 'SENT' ? result.providerId : null;
    if (providerId !== null) await this.providerIds.lock(tx, connection, [providerId]);
    await this.messages.lock(tx, message);
    const before = await this.statuses.advance(
      tx,
      message,
      result.status,
      'error' in result ? result.error : null,
    );
    const holdMs = 'holdMs' in result ? result.holdMs : 0;
    // An unknown outcome that changes no status needs no new hold, because either a receipt has reported the
    // outcome, or the row became a hold when its lease ended.
    const isSettled = result.status === 'UNKNOWN' && before === null;
    this.messages.finish(tx, message, isSettled ? { leaseId: message.leaseId } : { holdMs });
    if (providerId !== null) {
      await this.providerIds.insertSent(tx, connection, message, providerId, claimedAt);
    }
  }
}
