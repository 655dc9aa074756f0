import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { ClaimedMessage } from './claimed-message';
import { SendResult } from './send-result';
import { OutboundMessageQueue } from './outbound-message.queue';

/** What follows from a recorded attempt: the next wake-up of its connection, figures, and a line in the log. */
@Injectable()
export class SendFollowUp {
  private readonly logger = new Logger(SendFollowUp.name);

  constructor(
    private readonly queue: OutboundMessageQueue,
    private readonly metrics: Metrics,
  ) {}

  /** Asks all processes for another turn of connections. */
  share(connectionIds: string[]): void {
    this.queue.enqueue(connectionIds);
  }

  after(dispatch: ClaimedMessage, result: SendResult): void {
    const { id } = dispatch.connection;
    const delayMs = waitAfter(result);
    // The conversation's next message may go now, or then.
    if (delayMs === 0) this.queue.wake([id]);
    else this.queue.wakeIn(id, delayMs);
    // All others may go when the pause is over.
    if (result.status === 'SENDING' && result.pauseMs > 0) this.queue.wakeIn(id, result.pauseMs);
    this.count(dispatch, result);
    if (result.status !== 'SENT') this.report(dispatch, result);
  }

  private count({ connection: { channel }, createdAt }: ClaimedMessage, result: SendResult): void {
    this.metrics.outboundMessages.inc({ channel, outcome: outcomeOf(result) });
    if (result.status === 'SENT') {
      this.metrics.outboundMessageLatency.observe({ channel }, (Date.now() - createdAt.getTime()) / 1000);
    }
  }

  /** One line of the log for each attempt that failed: by it an operator sees what a customer waits for, or may have missed. */
  private report(
    { tenantId, conversationId, messageId, connection: { id: connectionId, channel } }: ClaimedMessage,
    { status, error }: Exclude<SendResult, { status: 'SENT' }>,
  ): void {
    const what = { tenantId, connectionId, channel, conversationId, messageId, status, error };
    this.logger.warn(what, FINDINGS[status]);
  }
}

const FINDINGS = {
  SENDING: 'a message could not be sent yet, and is tried again',
  FAILED: 'a message was not sent',
  UNKNOWN: 'a message is not known to be sent',
};

function waitAfter(result: SendResult): number {
  if (result.status === 'SENDING') return result.retryDelayMs;
  return 'holdMs' in result ? result.holdMs : 0;
}

function outcomeOf(result: SendResult): string {
  if (result.status === 'SENDING') return 'retry';
  return result.status === 'FAILED' ? result.error.code.toLowerCase() : result.status.toLowerCase();
}
