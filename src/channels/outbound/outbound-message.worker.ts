import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { LeaseWorker } from '../../queue/lease-worker';
import { InjectStartCapacity, isTooLate, StartCapacity } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { WakeUps } from '../../queue/wake-ups';
import { ClaimedMessage, OUTBOUND_MESSAGE_QUEUE } from './claimed-message';
import { OutboundMessageClaimer } from './outbound-message-claimer';
import { OutboundMessageAttempter } from './outbound-message-attempter';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { PartResult } from './parts/part-recorder';
import { SendResult } from './send-result';

const LOG_MESSAGES = {
  SENDING: 'an outbound message was not sent; it will be retried',
  FAILED: 'an outbound message failed',
  UNKNOWN: 'the outcome of an outbound message is unknown',
};

/** Sends outbound messages within this process's capacity, and wakes workers for the next messages. */
@Injectable()
export class OutboundMessageWorker {
  readonly runner: LeaseWorker<ClaimedMessage>;
  private readonly logger = new Logger(OutboundMessageWorker.name);

  constructor(
    @InjectStartCapacity(OUTBOUND_MESSAGE_QUEUE) capacity: StartCapacity,
    private readonly wakeUps: WakeUps,
    claimer: OutboundMessageClaimer,
    private readonly attempter: OutboundMessageAttempter,
    private readonly messages: OutboundMessagesRepository,
    private readonly metrics: Metrics,
  ) {
    this.runner = new LeaseWorker<ClaimedMessage>(capacity, {
      logger: this.logger,
      claim: (connection, count) => claimer.claim(connection, count),
      process: (connection, message) => this.process(connection, message),
      wakeOtherWorkers: (connection) => wakeUps.wakeOthers(OUTBOUND_MESSAGE_QUEUE, connection),
    });
    wakeUps.register(OUTBOUND_MESSAGE_QUEUE, this.runner);
  }

  private async process({ id: connectionId }: Target, message: ClaimedMessage): Promise<void> {
    this.metrics.outboundMessagesInFlight.inc();
    try {
      // The message has not been sent, so another process may claim it.
      if (this.runner.isStopping || isTooLate(message.startBy)) await this.messages.release(message);
      else this.follow(message, await this.attempter.attempt(message));
    } catch (error) {
      // After an internal error, the message becomes UNKNOWN when its lease expires.
      const { tenantId, messageId } = message;
      this.logger.error(
        { err: error as Error, tenantId, connectionId, messageId },
        'an outbound message was not processed',
      );
    } finally {
      this.metrics.outboundMessagesInFlight.dec();
    }
  }

  private follow(message: ClaimedMessage, result: PartResult): void {
    const { tenantId, id } = message.connection;
    if (result.status === 'LOST') return;
    if (result.status === 'CONTINUED')
      return this.wakeUps.wakeIn(OUTBOUND_MESSAGE_QUEUE, { tenantId, id }, result.delayMs);
    this.wakeConnection({ tenantId, id }, result);
    this.count(message, result);
    if (result.status !== 'SENT') this.logFailure(message, result);
  }

  private wakeConnection(connection: Target, result: SendResult): void {
    // Wakes the connection for this conversation's next message, or for the retry.
    this.wakeUps.wakeIn(OUTBOUND_MESSAGE_QUEUE, connection, nextSendDelayMs(result));
    // Wakes the connection after its pause, when the messages of its other conversations may be sent.
    if (result.status === 'SENDING' && result.pauseMs > 0)
      this.wakeUps.wakeIn(OUTBOUND_MESSAGE_QUEUE, connection, result.pauseMs);
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
