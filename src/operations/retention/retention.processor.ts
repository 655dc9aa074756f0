import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { MessageRetentionService } from '../../privacy/message-retention.service';
import { DailyProcessor } from '../../queue/daily.processor';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';

/** Deletes expired rows and erases expired messages once a night, on one worker. */
@Processor(RETENTION_QUEUE)
export class RetentionProcessor extends DailyProcessor {
  constructor(
    @InjectQueue(RETENTION_QUEUE) queue: Queue,
    private readonly retention: RetentionService,
    private readonly messages: MessageRetentionService,
  ) {
    super(queue, EVERY_NIGHT);
  }

  @Process()
  clean(): Promise<unknown> {
    return this.runDaily(async (stop) => {
      await this.retention.clean(stop);
      await this.messages.clean(stop);
    });
  }
}
