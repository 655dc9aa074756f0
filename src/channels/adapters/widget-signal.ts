import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../redis/redis-client';
import { RedisSubscriber } from '../../redis/redis-subscriber';

/** Whose streams are told. */
interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/** Carries ids only: each process reads the rest from the database. */
interface MessageNotice extends VisitorAddress {
  messageId: string;
}

/**
 * Tells the processes that have streams of a visitor, over Redis, each visitor and each widget by a channel of its own. A
 * lost notice delays visitors by one heartbeat at most.
 */
@Injectable()
export class WidgetSignal {
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** @throws when Redis does not answer within 100 ms */
  sendMessage({ messageId, ...visitor }: MessageNotice): Promise<void> {
    return this.redis.publish(channelOfVisitor(visitor), messageId);
  }

  /**
   * The widget was disconnected. A rotation shows in the next heartbeat.
   * @throws when Redis does not answer within 100 ms
   */
  sendChanged(connectionId: string): Promise<void> {
    return this.redis.publish(channelOfWidget(connectionId), '');
  }

  /** Settles once no message is missed any more; while Redis is down it does not settle. */
  onMessage(visitor: VisitorAddress, callback: (messageId: string) => void): Promise<void> {
    return this.subscriber.subscribe(channelOfVisitor(visitor), callback);
  }

  offMessage(visitor: VisitorAddress): void {
    this.subscriber.unsubscribe(channelOfVisitor(visitor));
  }

  onChanged(connectionId: string, callback: () => void): void {
    void this.subscriber.subscribe(channelOfWidget(connectionId), callback);
  }

  offChanged(connectionId: string): void {
    this.subscriber.unsubscribe(channelOfWidget(connectionId));
  }
}

function channelOfVisitor({ connectionId, externalId }: VisitorAddress): string {
  return `widget:visitor:${connectionId}:${externalId}`;
}

function channelOfWidget(connectionId: string): string {
  return `widget:changed:${connectionId}`;
}
