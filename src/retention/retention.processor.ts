import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { DailyProcessor } from '../queue/daily.processor';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';

/** Deletes expired rows once a night, on one worker. */
@Processor(RETENTION_QUEUE)
export class RetentionProcessor extends DailyProcessor {
  constructor(
    @InjectQueue(RETENTION_QUEUE) queue: Queue,
    private readonly retention: RetentionService,
  ) {
    super(queue, EVERY_NIGHT);
  }

  @Process()
  clean(): Promise<unknown> {
    return this.run((stop) => this.retention.clean(stop));
  }
}
