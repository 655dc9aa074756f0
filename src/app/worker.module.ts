import { Module, OnApplicationBootstrap } from '@nestjs/common';
import { AlertWatchModule } from '../operations/alert-watch/alert-watch.module';
import { AttachmentsWorkerModule } from '../attachments/attachments.module';
import { ChannelsWorkerModule } from '../channels/channels-worker.module';
import { ConversationsWorkerModule } from '../conversations/conversations.module';
import { OwnerDatabaseModule } from '../database/setup/database.module';
import { SERVICES } from './features';
import { MessageSearchWorkerModule } from '../message-search/message-search.module';
import { AlertMailsWorkerModule } from '../notices/alerts/alert-mails.module';
import { NoticesWorkerModule } from '../notices/notices.module';
import { OutboxRelay } from '../outbox/outbox-relay';
import { OutboxWorkerModule } from '../outbox/outbox.module';
import { PrivacyWorkerModule } from '../privacy/privacy.module';
import { PollsModule } from '../queue/polling/polls.module';
import { QueueFloorsWorkerModule } from '../queue/floors/queue-floors.module';
import { RetentionModule } from '../operations/retention/retention.module';
import { WebhooksWorkerModule } from '../webhooks/webhooks-worker.module';
import { WorkspaceDeletionWorkerModule } from '../workspaces/deletion/workspace-deletion-worker.module';

/**
 * Runs all background work, such as relaying events and sending messages and webhooks. Nest stops modules in
 * reverse order: first the polls, so that they start no more work, then messages and deliveries, which need
 * the remaining time.
 */
@Module({
  imports: [
    ...SERVICES,
    OwnerDatabaseModule,
    QueueFloorsWorkerModule,
    RetentionModule,
    AlertWatchModule,
    WorkspaceDeletionWorkerModule,
    PrivacyWorkerModule,
    ConversationsWorkerModule,
    AttachmentsWorkerModule,
    MessageSearchWorkerModule,
    NoticesWorkerModule,
    AlertMailsWorkerModule,
    OutboxWorkerModule,
    ChannelsWorkerModule,
    WebhooksWorkerModule,
    PollsModule,
  ],
})
export class WorkerModule implements OnApplicationBootstrap {
  constructor(private readonly relay: OutboxRelay) {}

  /** Starts the relay of events here, because every consumer of events has registered by now. */
  onApplicationBootstrap(): void {
    this.relay.start();
  }
}
