import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseAway, isFaultOfData } from '../../database/driver/database-errors';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MessageStatusRepository } from '../../messages/message-status.repository';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ChannelConnectionsRepository } from '../connections/channel-connections.repository';
import { ChannelConnectionsService } from '../connections/channel-connections.service';
import { NamedRecipients } from '../customers/named-recipients';
import { ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { MessageOutcome, SendResult, decideResult } from './send-result';

/** First wait for another try; each further one is twice as long, up to the longest. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 4_000;
/** Time after which an outcome is given up though the database works: a statement of ours is wrong. */
const STOP_AFTER_MS = 60_000;

@Injectable()
export class OutboundMessageRecorder {
  private readonly logger = new Logger(OutboundMessageRecorder.name);

  constructor(
    private readonly database: Database,
    private readonly adapters: ChannelAdapters,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly providerIds: ProviderIdsRepository,
    private readonly recipients: NamedRecipients,
    private readonly connections: ChannelConnectionsService,
    private readonly connectionRows: ChannelConnectionsRepository,
  ) {}

  /**
   * Records the outcome of an attempt, and settles once it is committed. Retries as long as the world around
   * the database fails, because a lost outcome makes its message UNKNOWN. The lease may end meanwhile: a
   * message that has become UNKNOWN can still become SENT.
   */
  async record(message: ClaimedMessage, outcome: MessageOutcome): Promise<SendResult> {
    const stopAt = Date.now() + STOP_AFTER_MS;
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)) {
      try {
        const result = await this.database.withinNodeShare(message.tenantId, () =>
          this.database.transaction((tx) => this.write(tx, message, outcome)),
        );
        await this.linkRecipient(message, outcome);
        return result;
      } catch (error) {
        if (isFaultOfData(error) || (!isDatabaseAway(error) && Date.now() > stopAt)) throw error;
        const { messageId } = message;
        this.logger.warn(
          { err: error as Error, messageId, outcome: outcome.kind },
          'send result not recorded yet; retrying',
        );
        await sleep(delayMs);
      }
    }
  }

  private async linkRecipient({ connection, recipientId }: ClaimedMessage, outcome: MessageOutcome) {
    if (outcome.kind !== 'SENT' || !outcome.recipientIds?.length || recipientId === null) return;
    await this.recipients.link(connection, [[recipientId, ...outcome.recipientIds]]);
  }

  private async write(tx: Transaction, message: ClaimedMessage, given: MessageOutcome): Promise<SendResult> {
    const { connection } = message;
    const outcome =
      given.kind === 'REAUTH' && !(await this.connections.markReauthRequired(tx, connection))
        ? // The credentials were rotated during the attempt: retry with the new ones.
          ({ kind: 'RETRY', fault: given.fault } as const)
        : given;
    const result = decideResult(outcome, this.adapters.getAdapter(connection.channel), message.attemptCount);
    if (result.status === 'SENDING') await this.scheduleRetry(tx, message, result);
    else await this.finish(tx, message, result);
    return result;
  }

  private async scheduleRetry(
    tx: Transaction,
    message: ClaimedMessage,
    { error, retryDelayMs, pauseMs }: SendResult & { status: 'SENDING' },
  ): Promise<void> {
    if (pauseMs > 0) await this.connectionRows.pause(tx, message.connection, pauseMs);
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
    if (providerId !== null) await this.providerIds.lock(tx, connection, providerId);
    await this.messages.lock(tx, message);
    const before = await this.statuses.advance(
      tx,
      message,
      result.status,
      'error' in result ? result.error : null,
    );
    const holdMs = 'holdMs' in result ? result.holdMs : 0;
    // Either a receipt has come first, and no hold is needed; or the lease has ended, and the hold has begun.
    if (result.status === 'UNKNOWN' && before === null) {
      await this.messages.finish(tx, message, { leaseId: message.leaseId });
    } else await this.messages.finish(tx, message, { holdMs });
    if (providerId !== null) {
      await this.providerIds.insertSent(tx, connection, message, providerId, claimedAt);
    }
  }
}
