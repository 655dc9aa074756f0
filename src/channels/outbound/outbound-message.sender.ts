import { Injectable } from '@nestjs/common';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ClaimedMessage } from './claimed-message';
import { AttemptOutcome, SendResult } from './send-result';
import { SendResultRecorder } from './send-result.recorder';

/** Makes one attempt of a claimed message: over its channel's adapter, and into the record. */
@Injectable()
export class OutboundMessageSender {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly recorder: SendResultRecorder,
  ) {}

  /** Settles once the outcome is committed. What the provider does is an outcome; only a fault of our own throws. */
  async send(dispatch: ClaimedMessage): Promise<SendResult> {
    return this.recorder.record(dispatch, await this.outcomeOf(dispatch));
  }

  private async outcomeOf(dispatch: ClaimedMessage): Promise<AttemptOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = dispatch;
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    const message = { messageId, conversationId, recipientId, body };
    return this.adapters.of(connection.channel).send(connection, message);
  }
}
