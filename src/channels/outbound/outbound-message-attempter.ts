import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { isDatabaseAway, isFaultOfData } from '../../database/driver/database-errors';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { NamedRecipients } from '../customers/named-recipients';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageRecorder } from './outbound-message-recorder';
import { MessageOutcome, SendResult } from './send-result';

/** Milliseconds before the first retry to record an outcome. Each further wait is twice as long. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 4_000;
/** Milliseconds after which retries end if the database answers, because then the statement must be wrong. */
const STOP_AFTER_MS = 60_000;

@Injectable()
export class OutboundMessageAttempter {
  private readonly logger = new Logger(OutboundMessageAttempter.name);

  constructor(
    private readonly database: Database,
    private readonly adapters: ChannelAdapters,
    private readonly recorder: OutboundMessageRecorder,
    private readonly recipients: NamedRecipients,
  ) {}

  /**
   * Sends a claimed message once, and resolves when the outcome is committed. A failure at the provider is an
   * outcome too, not an error.
   */
  async attempt(message: ClaimedMessage): Promise<SendResult> {
    return this.record(message, await this.send(message));
  }

  private async send(message: ClaimedMessage): Promise<MessageOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = message;
    if (body === '') return { kind: 'ERASED' };
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    const adapter = this.adapters.getAdapter(connection.channel);
    return adapter.send(connection, { messageId, conversationId, recipientId, body });
  }

  /**
   * Records an outcome. Retries while the database cannot be reached, because a message whose outcome is lost
   * becomes UNKNOWN when its lease ends. Even then, a successful retry still makes a sent message SENT.
   */
  async record(message: ClaimedMessage, outcome: MessageOutcome): Promise<SendResult> {
    const adapter = this.adapters.getAdapter(message.connection.channel);
    const stopAt = Date.now() + STOP_AFTER_MS;
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)) {
      try {
        const result = await this.database.placement.forWorkspace(message.tenantId, () =>
          this.database.transaction((tx) => this.recorder.write(tx, message, outcome, adapter)),
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
}
