import { Injectable } from '@nestjs/common';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ClaimedDispatch } from './claimed-dispatch';
import { AttemptOutcome, DispatchResult } from './dispatch-result';
import { DispatchRecorder } from './dispatch.recorder';

/** Makes one attempt of a claimed message: over its channel's adapter, and into the record. */
@Injectable()
export class DispatchSender {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly recorder: DispatchRecorder,
  ) {}

  /** Settles once the outcome is committed. What the provider does is an outcome; only a fault of our own throws. */
  async send(dispatch: ClaimedDispatch): Promise<DispatchResult> {
    return this.recorder.record(dispatch, await this.outcomeOf(dispatch));
  }

  private async outcomeOf(dispatch: ClaimedDispatch): Promise<AttemptOutcome> {
    const { connection, recipientId, messageId, conversationId, body } = dispatch;
    if (recipientId === null) return { kind: 'NO_RECIPIENT' };
    const message = { messageId, conversationId, recipientId, body };
    return this.adapters.of(connection.channel).send(connection, message);
  }
}
