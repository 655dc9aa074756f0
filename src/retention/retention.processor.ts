import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bull';
import { DailyJob } from '../redis/daily-job';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';

/** Cleans up once a night, on one worker. */
@Injectable()
export class RetentionProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: DailyJob;

  constructor(
    @InjectQueue(RETENTION_QUEUE) queue: Queue,
    private readonly retention: RetentionService,
  ) {
    const logger = new Logger(RetentionProcessor.name);
    this.job = new DailyJob(queue, EVERY_NIGHT, () => retention.clean(), logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    this.retention.stop();
    return this.job.stop();
  }
}
