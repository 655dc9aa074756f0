import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { DailyProcessor } from '../../queue/daily.processor';
import { InstagramTokensService } from './instagram-tokens.service';

export const INSTAGRAM_TOKENS_QUEUE = 'instagram-tokens';
const EVERY_DAY = '43 4 * * *';

/** Refreshes Instagram's access tokens once a day, in one worker process. */
@Processor(INSTAGRAM_TOKENS_QUEUE)
export class InstagramTokensProcessor extends DailyProcessor {
  constructor(
    @InjectQueue(INSTAGRAM_TOKENS_QUEUE) queue: Queue,
    private readonly tokens: InstagramTokensService,
  ) {
    super(queue, EVERY_DAY);
  }

  @Process()
  refresh(): Promise<unknown> {
    return this.runDaily((stop) => this.tokens.refreshDue(stop));
  }
}
