import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { DailyProcessor } from '../../queue/daily.processor';
import { InstagramTokensService } from './instagram-tokens.service';

export const INSTAGRAM_TOKENS_QUEUE = 'instagram-tokens';
const EVERY_DAY = '43 4 * * *';

/** Has tokens replaced once a day, on one worker. */
@Injectable()
export class InstagramTokensProcessor extends DailyProcessor {
  constructor(@InjectQueue(INSTAGRAM_TOKENS_QUEUE) queue: Queue, tokens: InstagramTokensService) {
    super(queue, EVERY_DAY, (stop) => tokens.refreshDue(stop));
  }
}
