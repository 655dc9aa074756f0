import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../../redis/redis-client';
import { RedisSubscriber } from '../../../redis/redis-subscriber';

interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/** Signal of a new message. Each receiving process reads the message from the database. */
interface MessageNotice extends VisitorAddress {
  messageId: string;
}

/**
 * Signals over Redis that a visitor has a new message or that a widget was disconnected. Each process with an
 * event stream of this visitor or widget receives it. If a signal is lost, the stream's next heartbeat shows
 * the change.
 */
@Injectable()
export class WidgetSignal {
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** Signals a message to its visitor. Throws if Redis does not answer within 100 ms. */
  async sendMessage({ messageId, ...visitor }: MessageNotice): Promise<void> {
    await this.redis.publish(visitorChannel(visitor), messageId);
  }

  /**
   * Signals that a widget was disconnected. Throws if Redis does not answer within 100 ms. No signal is
   * needed for new credentials, because each stream's next heartbeat detects them.
   */
  async sendChanged(connectionId: string): Promise<void> {
    await this.redis.publish(widgetChannel(connectionId), '');
  }

  /**
   * Calls back for each new message of a visitor. Resolves when the subscription is active, which needs
   * Redis.
   */
  onMessage(visitor: VisitorAddress, callback: (messageId: string) => void): Promise<void> {
    return this.subscriber.subscribe(visitorChannel(visitor), callback);
  }

  offMessage(visitor: VisitorAddress): void {
    this.subscriber.unsubscribe(visitorChannel(visitor));
  }

  onChanged(connectionId: string, callback: () => void): void {
    void this.subscriber.subscribe(widgetChannel(connectionId), callback);
  }

  offChanged(connectionId: string): void {
    this.subscriber.unsubscribe(widgetChannel(connectionId));
  }
}

function visitorChannel({ connectionId, externalId }: VisitorAddress): string {
  return `widget:visitor:${connectionId}:${externalId}`;
}

function widgetChannel(connectionId: string): string {
  return `widget:changed:${connectionId}`;
}
