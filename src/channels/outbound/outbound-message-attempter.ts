import { Injectable } from '@nestjs/common';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ClaimedMessage } from './claimed-message';
import { AttemptOutcome, SendResult } from './send-result';
import { OutboundMessageRecorder } from './outbound-message-recorder';

@Injectable()
export class OutboundMessageAttempter {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly recorder: OutboundMessageRecorder,
  ) {}

  /** Makes one attempt. Settles once its outcome is committed. A provider's failure is an outcome, and does not throw. */
  async send(message: ClaimedMessage): Promise<SendResult> {
    return this.recorder.record(message, await this.attempt(message));
  }

  private async attempt(message: ClaimedMessage): Promise<AttemptOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = message;
    if (body === '') return { kind: 'ERASED' };
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    return this.adapters
      .of(connection.channel)
      .send(connection, { messageId, conversationId, recipientId, body });
  }
}
