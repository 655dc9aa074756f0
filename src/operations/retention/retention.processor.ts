import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { FileSweep } from '../../attachments/files/file-sweep';
import { MessageRetentionService } from '../../privacy/message-retention.service';
import { DailyProcessor } from '../../queue/daily.processor';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';

/** Deletes expired rows and lost files, and erases expired messages, once a night on one worker. */
@Processor(RETENTION_QUEUE)
export class RetentionProcessor extends DailyProcessor {
  constructor(
    @InjectQueue(RETENTION_QUEUE) queue: Queue,
    private readonly retention: RetentionService,
    private readonly messages: MessageRetentionService,
    private readonly files: FileSweep,
  ) {
    super(queue, EVERY_NIGHT);
  }

  @Process()
  clean(): Promise<unknown> {
    return this.runDaily(async (stop) => {
      await this.retention.clean(stop);
      await this.messages.clean(stop);
      await this.files.clean(stop);
    });
  }
}
