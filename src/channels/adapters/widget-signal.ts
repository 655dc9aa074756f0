import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../redis/redis-client';
import { RedisSubscriber } from '../../redis/redis-subscriber';

/** A visitor of a widget. */
interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/** A message to a visitor, by its id alone: each process reads the rest from the database. */
interface MessageNotice extends VisitorAddress {
  messageId: string;
}

/**
 * Tells the processes that have streams of a visitor what is new, over Redis. Each visitor and each widget
 * has a channel of its own. A lost notice delays visitors by one heartbeat at most.
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
  sendMessage({ messageId, ...visitor }: MessageNotice): Promise<void> {
    return this.redis.publish(visitorChannel(visitor), messageId);
  }

  /**
   * Announces that a widget was disconnected. A rotation shows in the next heartbeat.
   * @throws when Redis does not answer within 100 ms
   */
  sendChanged(connectionId: string): Promise<void> {
    return this.redis.publish(widgetChannel(connectionId), '');
  }

  /**
   * Calls back for each message to a visitor. Settles once no message is missed any more; while Redis is down
   * it does not settle.
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
