import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { Target } from '../../queue/target';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageQueue } from './outbound-message-queue';
import { SendResult } from './send-result';

const LOG_MESSAGES = {
  SENDING: 'an outbound message was not sent; it will be retried',
  FAILED: 'an outbound message failed',
  UNKNOWN: 'the outcome of an outbound message is unknown',
};

/** After an attempt is recorded: wakes its connection again, counts the attempt, logs a failure. */
@Injectable()
export class SendFollowUp {
  private readonly logger = new Logger(SendFollowUp.name);

  constructor(
    private readonly queue: OutboundMessageQueue,
    private readonly metrics: Metrics,
  ) {}

  wakeOtherWorkers(connections: Target[]): void {
    this.queue.enqueue(connections);
  }

  onRecorded(message: ClaimedMessage, result: SendResult): void {
    const { tenantId, id } = message.connection;
    this.wakeConnection({ tenantId, id }, result);
    this.count(message, result);
    if (result.status !== 'SENT') this.logFailure(message, result);
  }

  private wakeConnection(connection: Target, result: SendResult): void {
    // For the conversation's next message, or the retry.
    const delayMs = nextSendDelayMs(result);
    if (delayMs === 0) this.queue.wake([connection]);
    else this.queue.wakeIn(connection, delayMs);
    // For all other conversations.
    if (result.status === 'SENDING' && result.pauseMs > 0) this.queue.wakeIn(connection, result.pauseMs);
  }

  private count({ connection: { channel }, createdAt }: ClaimedMessage, result: SendResult): void {
    this.metrics.outboundMessages.inc({ channel, outcome: outcomeLabel(result) });
    if (result.status === 'SENT') {
      this.metrics.outboundMessageLatency.observe({ channel }, (Date.now() - createdAt.getTime()) / 1000);
    }
  }

  private logFailure(
    { tenantId, conversationId, messageId, connection: { id: connectionId, channel } }: ClaimedMessage,
    { status, error }: Exclude<SendResult, { status: 'SENT' }>,
  ): void {
    const details = { tenantId, connectionId, channel, conversationId, messageId, status, error };
    this.logger.warn(details, LOG_MESSAGES[status]);
  }
}

function nextSendDelayMs(result: SendResult): number {
  if (result.status === 'SENDING') return result.retryDelayMs;
  return 'holdMs' in result ? result.holdMs : 0;
}

function outcomeLabel(result: SendResult): string {
  if (result.status === 'SENDING') return 'retry';
  return result.status === 'FAILED' ? result.error.code.toLowerCase() : result.status.toLowerCase();
}
