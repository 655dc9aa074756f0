import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { DailyProcessor } from '../queue/daily.processor';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';

/** Cleans up once a night, on one worker. */
@Injectable()
export class RetentionProcessor extends DailyProcessor {
  constructor(@InjectQueue(RETENTION_QUEUE) queue: Queue, retention: RetentionService) {
    super(queue, EVERY_NIGHT, (stop) => retention.clean(stop));
  }
}
