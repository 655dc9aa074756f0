import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config';
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
export class WidgetSignal implements OnApplicationShutdown {
  private subscriber: RedisSubscriber | null = null;

  constructor(
    private readonly config: Config,
    private readonly redis: RedisClient,
  ) {}

  /** @throws when Redis does not take it within 100 ms */
  async send(notice: WidgetNotice): Promise<void> {
    await this.redis.inTime(this.redis.publish(CHANNEL, JSON.stringify(notice)));
  }

  /** Calls back for every notice of any process. */
  onNotice(callback: (notice: WidgetNotice) => void): void {
    this.subscriber = new RedisSubscriber(this.config.redisUrl, CHANNEL, (text) =>
      callback(JSON.parse(text) as WidgetNotice),
    );
  }

  onApplicationShutdown(): void {
    this.subscriber?.close();
  }
}
