import { Module } from '@nestjs/common';
import { AlertsModule } from '../../alerts/alerts.module';
import { registerQueue } from '../../queue/register-queue';
import { ALERT_WATCH_QUEUE, AlertWatchProcessor } from './alert-watch.processor';
import { AlertWatchService } from './alert-watch.service';
import { EndingThingsRepository } from './ending-things.repository';
import { UnknownReplies } from './unknown-replies';
import { UnknownRepliesRepository } from './unknown-replies.repository';

@Module({
  imports: [AlertsModule, registerQueue(ALERT_WATCH_QUEUE)],
  providers: [
    EndingThingsRepository,
    AlertWatchService,
    AlertWatchProcessor,
    UnknownRepliesRepository,
    UnknownReplies,
  ],
})
export class AlertWatchModule {}
