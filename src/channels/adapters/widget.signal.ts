import { Injectable, Logger } from '@nestjs/common';
import { RedisSubscriber } from '../../redis/redis-subscriber';
import { RedisClient } from '../../redis/redis.module';

const CHANNEL = 'widget:notices';

/** What the processes that visitors are connected to are told. Ids only: each reads the rest for itself. */
export type WidgetNotice =
  | { kind: 'message'; connectionId: string; externalId: string; messageId: string }
  /** The widget is no more, or is another one now. */
  | { kind: 'changed'; connectionId: string };

/** Tells all processes, over Redis, what concerns visitors. A lost notice costs them up to a heartbeat. */
@Injectable()
export class WidgetSignal {
  private readonly logger = new Logger(WidgetSignal.name);

  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** @throws when Redis does not take it within 100 ms */
  async send(notice: WidgetNotice): Promise<void> {
    await this.redis.inTime(this.redis.publish(CHANNEL, JSON.stringify(notice)));
  }

  /** Calls back for every notice of any process. */
  onNotice(callback: (notice: WidgetNotice) => void): void {
    this.subscriber.listen(CHANNEL, (text) => {
      const notice = this.read(text);
      if (notice) callback(notice);
    });
  }

  /** Whoever else publishes there must not end this process. */
  private read(text: string): WidgetNotice | null {
    try {
      const notice: unknown = JSON.parse(text);
      if (typeof notice === 'object') return notice as WidgetNotice | null;
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'a notice was left out: it is no JSON');
    }
    return null;
  }
}
