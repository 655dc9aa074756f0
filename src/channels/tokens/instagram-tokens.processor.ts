import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bull';
import { DailyJob } from '../../redis/daily-job';
import { InstagramTokensService } from './instagram-tokens.service';

export const INSTAGRAM_TOKENS_QUEUE = 'instagram-tokens';
const EVERY_DAY = '43 4 * * *';

/** Has tokens replaced once a day, on one worker. */
@Injectable()
export class InstagramTokensProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: DailyJob;

  constructor(
    @InjectQueue(INSTAGRAM_TOKENS_QUEUE) queue: Queue,
    private readonly tokens: InstagramTokensService,
  ) {
    const logger = new Logger(InstagramTokensProcessor.name);
    this.job = new DailyJob(queue, EVERY_DAY, () => tokens.refreshDue(), logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    this.tokens.stop();
    return this.job.stop();
  }
}
