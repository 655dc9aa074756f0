import { Injectable } from '@nestjs/common';
import { DeliveryErrorCode } from '../../common/message-status';
import { ChannelAdapter } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionAlerts } from '../connections/connection-alerts';
import { NamedRecipients } from '../customers/named-recipients';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageRecorder } from './outbound-message-recorder';
import { OutcomeWriter } from './outcome-writer';
import { PartAttempter } from './parts/part-attempter';
import { PartResult } from './parts/part-recorder';
import { MessageOutcome, SendResult } from './send-result';

const AT_PROVIDER: DeliveryErrorCode[] = ['REFUSED', 'WINDOW_CLOSED', 'RETRIES_EXHAUSTED'];

@Injectable()
export class OutboundMessageAttempter {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly recorder: OutboundMessageRecorder,
    private readonly outcomes: OutcomeWriter,
    private readonly parts: PartAttempter,
    private readonly recipients: NamedRecipients,
    private readonly alerts: ConnectionAlerts,
  ) {}

  /**
   * Sends a claimed message once, or its next part if it has files, and resolves when the outcome is
   * committed. A failure at the provider is an outcome too, not an error.
   */
  async attempt(message: ClaimedMessage): Promise<PartResult> {
    const { connection, recipientId, body, attachmentCount } = message;
    const adapter = this.adapters.getAdapter(connection.channel);
    const isSendable = body !== '' && recipientId !== null;
    const isInParts = isSendable && attachmentCount > 0 && 'sendFile' in adapter;
    const result = isInParts
      ? await this.attemptPart(message, recipientId, adapter)
      : await this.record(message, await this.send(message));
    const hasArrived = result.status === 'SENT' && !adapter.refusesLater;
    await this.alerts.noteReplies(connection, { failed: isRefused(result) ? 1 : 0, hasArrived });
    return result;
  }

  private async attemptPart(
    message: ClaimedMessage,
    recipientId: string,
    adapter: ChannelAdapter,
  ): Promise<PartResult> {
    const { result, outcome } = await this.parts.attempt(message, recipientId, adapter);
    if (outcome) await this.linkRecipient(message, outcome);
    return result;
  }

  private async send(message: ClaimedMessage): Promise<MessageOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = message;
    if (body === '') return { kind: 'ERASED' };
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    const adapter = this.adapters.getAdapter(connection.channel);
    return adapter.send(connection, { messageId, conversationId, recipientId, body });
  }

  /** Records an outcome. */
  async record(message: ClaimedMessage, outcome: MessageOutcome): Promise<SendResult> {
    const adapter = this.adapters.getAdapter(message.connection.channel);
    const result = await this.outcomes.write(message, outcome.kind, (tx) =>
      this.recorder.write(tx, message, outcome, adapter),
    );
    await this.linkRecipient(message, outcome);
    return result;
  }

  private async linkRecipient({ connection, recipientId }: ClaimedMessage, outcome: MessageOutcome) {
    if (outcome.kind !== 'SENT' || !outcome.recipientIds?.length || recipientId === null) return;
    await this.recipients.link(connection, [[recipientId, ...outcome.recipientIds]]);
  }
}

/** Reports whether a message has failed at the provider, and with working credentials. */
function isRefused(result: PartResult): boolean {
  return result.status === 'FAILED' && AT_PROVIDER.includes(result.error.code);
}
