import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseAway } from '../../common/database-errors';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ChannelConnectionsService } from '../connections/channel-connections.service';
import { MessageProgress } from './message-progress';
import { ClaimedMessage } from './claimed-message';
import { AttemptOutcome, SendResult, resultOf } from './send-result';
import { OutboundMessagesRepository } from './outbound-messages.repository';

const RETRY_MS = 500;
/** Beyond its lease: a message that became UNKNOWN meanwhile can still become SENT. */
const GIVE_UP_AFTER_MS = 60_000;

/** Writes down what became of an attempt, all of it in one transaction. */
@Injectable()
export class SendResultRecorder {
  private readonly logger = new Logger(SendResultRecorder.name);

  constructor(
    private readonly database: Database,
    private readonly adapters: ChannelAdapters,
    private readonly store: OutboundMessagesRepository,
    private readonly progress: MessageProgress,
    private readonly connections: ChannelConnectionsService,
  ) {}

  /**
   * Settles once it is committed. Tries for long while the database is away: an outcome that is lost leaves its message
   * UNKNOWN.
   */
  async record(dispatch: ClaimedMessage, outcome: AttemptOutcome): Promise<SendResult> {
    const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
    for (;;) {
      try {
        return await this.database.transaction((tx) => this.write(tx, dispatch, outcome));
      } catch (error) {
        if (!isDatabaseAway(error) || Date.now() > giveUpAt) throw error;
        const { messageId } = dispatch;
        this.logger.warn({ err: error as Error, messageId, outcome: outcome.kind }, 'not written yet');
        await sleep(RETRY_MS);
      }
    }
  }

  private async write(
    tx: Transaction,
    dispatch: ClaimedMessage,
    outcome: AttemptOutcome,
  ): Promise<SendResult> {
    const { connection } = dispatch;
    const adapter = this.adapters.of(connection.channel);
    const settled =
      outcome.kind === 'REAUTH' && !(await this.connections.markReauth(tx, connection))
        ? // Others have taken these credentials' place meanwhile: the next attempt goes with them.
          ({ kind: 'RETRY', fault: outcome.fault } as const)
        : outcome;
    const result = resultOf(settled, adapter, dispatch.attemptCount);
    if (result.status === 'SENDING') await this.postpone(tx, dispatch, result);
    else await this.settle(tx, dispatch, result);
    return result;
  }

  private async postpone(
    tx: Transaction,
    dispatch: ClaimedMessage,
    { error, retryDelayMs, pauseMs }: SendResult & { status: 'SENDING' },
  ): Promise<void> {
    if (pauseMs > 0) await this.store.pause(tx, dispatch.connection, pauseMs);
    await this.store.postpone(tx, dispatch, retryDelayMs);
    await this.progress.explain(tx, dispatch, error);
  }

  private async settle(
    tx: Transaction,
    dispatch: ClaimedMessage,
    result: Exclude<SendResult, { status: 'SENDING' }>,
  ): Promise<void> {
    const { connection, claimedAt } = dispatch;
    const providerId = result.status === 'SENT' ? result.providerId : null;
    if (providerId !== null) await this.progress.takeTurn(tx, connection, providerId);
    await this.store.lock(tx, dispatch);
    const before = await this.progress.advance(
      tx,
      dispatch,
      result.status,
      'error' in result ? result.error : null,
    );
    // A receipt may have told already that it was sent: then there is nothing unknown to wait for.
    const isUnneeded = result.status === 'UNKNOWN' && before === null;
    await this.store.finish(tx, dispatch, 'holdMs' in result && !isUnneeded ? result.holdMs : 0);
    if (providerId !== null) {
      await this.progress.remember(tx, connection, dispatch, providerId, claimedAt);
    }
  }
}
