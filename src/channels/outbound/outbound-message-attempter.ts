import { Injectable } from '@nestjs/common';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageRecorder } from './outbound-message-recorder';
import { MessageOutcome, SendResult } from './send-result';

/** Makes one attempt of a claimed message: send, decide, record. */
@Injectable()
export class OutboundMessageAttempter {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly recorder: OutboundMessageRecorder,
  ) {}

  /**
   * Makes an attempt, and settles once its outcome is recorded. A provider's failure is an outcome, and does
   * not throw.
   */
  async attempt(message: ClaimedMessage): Promise<SendResult> {
    return this.recorder.record(message, await this.send(message));
  }

  private async send(message: ClaimedMessage): Promise<MessageOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = message;
    if (body === '') return { kind: 'ERASED' };
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    const adapter = this.adapters.getAdapter(connection.channel);
    return adapter.send(connection, { messageId, conversationId, recipientId, body });
  }
}
