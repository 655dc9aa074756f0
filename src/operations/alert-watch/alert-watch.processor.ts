import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { DailyProcessor } from '../../queue/daily.processor';
import { AlertWatchService } from './alert-watch.service';

export const ALERT_WATCH_QUEUE = 'alert-watch';
const EVERY_DAY = '29 5 * * *';

/** Watches trials and keys that end soon, once a day in one worker process. */
@Processor(ALERT_WATCH_QUEUE)
export class AlertWatchProcessor extends DailyProcessor {
  constructor(
    @InjectQueue(ALERT_WATCH_QUEUE) queue: Queue,
    private readonly alerts: AlertWatchService,
  ) {
    super(queue, EVERY_DAY);
  }

  @Process()
  watch(): Promise<unknown> {
    return this.runDaily((stop) => this.alerts.watch(stop));
  }
}
