import { Injectable, Logger } from '@nestjs/common';
import { RedisSubscriber } from '../../redis/redis-subscriber';
import { RedisClient } from '../../redis/redis.module';

const CHANNEL = 'widget:notices';

/** Carries ids only: each process reads the rest from the database. */
export type WidgetNotice =
  | { kind: 'message'; connectionId: string; externalId: string; messageId: string }
  /** The widget was disconnected. A rotation shows in the next heartbeat. */
  | { kind: 'changed'; connectionId: string };

/** Notifies all processes over Redis. A lost notice delays visitors by one heartbeat at most. */
@Injectable()
export class WidgetSignal {
  private readonly logger = new Logger(WidgetSignal.name);

  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** @throws when Redis does not answer within 100 ms */
  async send(notice: WidgetNotice): Promise<void> {
    await this.redis.inTime(this.redis.publish(CHANNEL, JSON.stringify(notice)));
  }

  onNotice(callback: (notice: WidgetNotice) => void): void {
    this.subscriber.listen(CHANNEL, (text) => {
      const notice = this.parse(text);
      if (notice) callback(notice);
    });
  }

  /** Another publisher's text must not end this process. */
  private parse(text: string): WidgetNotice | null {
    try {
      const notice: unknown = JSON.parse(text);
      if (typeof notice === 'object') return notice as WidgetNotice | null;
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'a widget notice is not JSON; ignored');
    }
    return null;
  }
}
