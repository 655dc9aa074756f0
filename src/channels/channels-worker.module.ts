import { FactoryProvider, Module } from '@nestjs/common';
import { AlertsModule } from '../alerts/alerts.module';
import { AttachmentsModule } from '../attachments/attachments.module';
import { DatabaseClock } from '../database/database-clock';
import { MessagesModule } from '../messages/messages.module';
import { OutboxWorkerModule } from '../outbox/outbox.module';
import { QueueFloorsModule } from '../queue/floors/queue-floors.module';
import { registerQueue } from '../queue/register-queue';
import { StartCapacity, startCapacityOf } from '../queue/start-capacity';
import { provideTargetRates } from '../queue/target-rates';
import { WakeUpsModule } from '../queue/wake-ups';
import { WorkspaceDeletionWorkerModule } from '../workspaces/deletion/workspace-deletion-worker.module';
import { ChannelsModule } from './channels.module';
import { ConnectionCloser } from './connections/connection-closer';
import { AttachmentFetcher } from './fetches/attachment-fetcher';
import { ChannelsConsumer } from './outbound/channels.consumer';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound/claimed-message';
import { DueMessagesRepository } from './outbound/due-messages.repository';
import { OutboundMessageAttempter } from './outbound/outbound-message-attempter';
import { OutboundMessageClaimer } from './outbound/outbound-message-claimer';
import { OutboundMessagePoll } from './outbound/outbound-message-poll';
import { OutboundMessageRecorder } from './outbound/outbound-message-recorder';
import { OutboundMessageRouter } from './outbound/outbound-message-router';
import { OutboundMessageWorker } from './outbound/outbound-message.worker';
import { OutcomeWriter } from './outbound/outcome-writer';
import { PartAttempter } from './outbound/parts/part-attempter';
import { PartPlans } from './outbound/parts/part-plans';
import { PartRecorder } from './outbound/parts/part-recorder';
import { PartSender } from './outbound/parts/part-sender';
import { RoutedMessagesRepository } from './outbound/routed-messages.repository';
import { StaleMessageReconciler } from './outbound/stale-message-reconciler';
import { StaleMessagesRepository } from './outbound/stale-messages.repository';
import { INSTAGRAM_TOKENS_QUEUE, InstagramTokensProcessor } from './tokens/instagram-tokens.processor';
import { InstagramTokensRepository } from './tokens/instagram-tokens.repository';
import { ReceptionChecks } from './reception/reception-checks';
import { ReceptionChecksRepository } from './reception/reception-checks.repository';
import { InstagramTokensService } from './tokens/instagram-tokens.service';

/** Maximum number of messages that this process sends at the same time. */
const MAX_IN_FLIGHT = 500;
/** Maximum number of messages sent at once over one connection, because its provider may be slow. */
const MAX_PER_CONNECTION = 25;

const outboundCapacity: FactoryProvider<StartCapacity> = {
  provide: startCapacityOf(OUTBOUND_MESSAGE_QUEUE),
  inject: [DatabaseClock],
  useFactory: (clock: DatabaseClock) =>
    new StartCapacity({ total: MAX_IN_FLIGHT, perTarget: MAX_PER_CONNECTION, slow: 0 }, clock),
};

/**
 * Sends outbound messages, fetches files of customers' messages, refreshes Instagram's tokens, and
 * disconnects the channels of a workspace before its deletion.
 */
@Module({
  imports: [
    AlertsModule,
    AttachmentsModule,
    ChannelsModule,
    MessagesModule,
    OutboxWorkerModule,
    QueueFloorsModule,
    registerQueue(INSTAGRAM_TOKENS_QUEUE),
    WakeUpsModule,
    WorkspaceDeletionWorkerModule,
  ],
  providers: [
    AttachmentFetcher,
    outboundCapacity,
    provideTargetRates(OUTBOUND_MESSAGE_QUEUE),
    ChannelsConsumer,
    ConnectionCloser,
    DueMessagesRepository,
    InstagramTokensProcessor,
    InstagramTokensRepository,
    ReceptionChecks,
    ReceptionChecksRepository,
    InstagramTokensService,
    OutboundMessageAttempter,
    OutboundMessageClaimer,
    OutboundMessagePoll,
    OutboundMessageRecorder,
    OutboundMessageRouter,
    OutboundMessageWorker,
    OutcomeWriter,
    PartAttempter,
    PartPlans,
    PartRecorder,
    PartSender,
    RoutedMessagesRepository,
    StaleMessageReconciler,
    StaleMessagesRepository,
  ],
})
export class ChannelsWorkerModule {}
