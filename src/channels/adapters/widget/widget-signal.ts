import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../../redis/redis-client';
import { RedisSubscriber } from '../../../redis/redis-subscriber';

/**
 * Visitor of a widget: the widget's connection, and the visitor's id, which is unique within the connection.
 */
interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/**
 * Signal that a visitor has a new message. It contains only the message's id: each receiving process reads
 * the message from the database.
 */
interface MessageNotice extends VisitorAddress {
  messageId: string;
}

/**
 * Signals over Redis that a visitor has a new message or that a widget was disconnected. Reaches every
 * process with an event stream of this visitor or widget. Each visitor and each widget has a Redis channel. A
 * lost signal delays the visitor by one heartbeat at most.
 */
@Injectable()
export class WidgetSignal {
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /**
   * Announces a message to its visitor.
   *
   * @throws Error if Redis does not answer within 100 ms
   */
  async sendMessage({ messageId, ...visitor }: MessageNotice): Promise<void> {
    await this.redis.publish(visitorChannel(visitor), messageId);
  }

  /**
   * Announces that a widget was disconnected. A rotation of its credentials needs no signal: the next
   * heartbeat of each stream detects it.
   *
   * @throws Error if Redis does not answer within 100 ms
   */
  async sendChanged(connectionId: string): Promise<void> {
    await this.redis.publish(widgetChannel(connectionId), '');
  }

  /**
   * Calls back for each new message of a visitor. Resolves when the subscription is active, so that later
   * messages are not missed. Stays pending while Redis is down.
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
