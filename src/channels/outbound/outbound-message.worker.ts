import { Injectable, Logger } from '@nestjs/common';
import { DatabaseClock } from '../../database/database-clock';
import { Metrics } from '../../metrics/metrics';
import { LeaseWorker } from '../../queue/lease-worker';
import { Slots } from '../../queue/slots';
import { Target } from '../../queue/target';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageClaimer } from './outbound-message-claimer';
import { OutboundMessageAttempter } from './outbound-message-attempter';
import { OutboundMessageQueue } from './outbound-message-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { SendResult } from './send-result';

/** Limit of attempts in progress in this process. */
const MAX_IN_FLIGHT = 500;
/** Limit of attempts in progress over one connection, so that a slow provider does not delay the others. */
const MAX_PER_CONNECTION = 25;

const LOG_MESSAGES = {
  SENDING: 'an outbound message was not sent; it will be retried',
  FAILED: 'an outbound message failed',
  UNKNOWN: 'the outcome of an outbound message is unknown',
};

/** Sends outbound messages in the slots of this process. */
@Injectable()
export class OutboundMessageWorker extends LeaseWorker<ClaimedMessage> {
  private readonly logger = new Logger(OutboundMessageWorker.name);

  constructor(
    private readonly claimer: OutboundMessageClaimer,
    private readonly attempter: OutboundMessageAttempter,
    private readonly messages: OutboundMessagesRepository,
    private readonly queue: OutboundMessageQueue,
    private readonly clock: DatabaseClock,
    private readonly metrics: Metrics,
  ) {
    super(new Slots({ total: MAX_IN_FLIGHT, perTarget: MAX_PER_CONNECTION, slow: 0 }));
  }

  protected override isPaused(connection: Target): boolean {
    return !this.clock.isTrusted || this.claimer.isPaused(connection);
  }

  protected override claim(connection: Target, count: number): Promise<ClaimedMessage[]> {
    return this.claimer.claim(connection, count);
  }

  protected override async process({ id: connectionId }: Target, message: ClaimedMessage): Promise<void> {
    this.metrics.outboundMessagesInFlight.inc();
    try {
      // The message has not been sent yet, so any worker may claim it.
      if (this.isStopping || performance.now() > message.startBy) await this.messages.release(message);
      else this.follow(message, await this.attempter.attempt(message));
    } catch (error) {
      // An internal error: the message becomes UNKNOWN when its lease expires.
      const { tenantId, messageId } = message;
      this.logger.error(
        { err: error as Error, tenantId, connectionId, messageId },
        'an outbound message was not processed',
      );
    } finally {
      this.metrics.outboundMessagesInFlight.dec();
    }
  }

  protected override wakeOtherWorkers(connections: Target[]): void {
    this.queue.enqueue(connections);
  }

  /** Follows up a recorded attempt: wakes its connection again, counts the attempt, logs a failure. */
  private follow(message: ClaimedMessage, result: SendResult): void {
    const { tenantId, id } = message.connection;
    this.wakeConnection({ tenantId, id }, result);
    this.count(message, result);
    if (result.status !== 'SENT') this.logFailure(message, result);
  }

  private wakeConnection(connection: Target, result: SendResult): void {
    // The conversation's next message, or the retry.
    const delayMs = nextSendDelayMs(result);
    if (delayMs === 0) this.queue.wake([connection]);
    else this.queue.wakeIn(connection, delayMs);
    // The messages of all other conversations.
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
