import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../../redis/redis-client';
import { RedisSubscriber } from '../../../redis/redis-subscriber';

/** Visitor of a widget: the widget's connection and the visitor's id on it. */
interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/**
 * Notice of a message to a visitor. It holds only the message's id: each process reads the rest from the
 * database.
 */
interface MessageNotice extends VisitorAddress {
  messageId: string;
}

/**
 * Tells processes over Redis that a visitor whose stream they hold has a message, or that a widget was
 * disconnected. Each visitor and each widget has a Redis channel. A lost notice delays visitors by one
 * heartbeat at most.
 */
@Injectable()
export class WidgetSignal {
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /**
   * Announces a message to its visitor.
   * @throws when Redis does not answer within 100 ms
   */
  async sendMessage({ messageId, ...visitor }: MessageNotice): Promise<void> {
    await this.redis.publish(visitorChannel(visitor), messageId);
  }

  /**
   * Announces that a widget was disconnected. A rotation of its credentials needs no notice: the next
   * heartbeat sees it.
   * @throws when Redis does not answer within 100 ms
   */
  async sendChanged(connectionId: string): Promise<void> {
    await this.redis.publish(widgetChannel(connectionId), '');
  }

  /**
   * Calls back for each message to a visitor. Resolves once no further message is missed, and not while Redis
   * is down.
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
