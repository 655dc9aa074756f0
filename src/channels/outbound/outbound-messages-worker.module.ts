import { Module } from '@nestjs/common';
import { MessagesModule } from '../../messages/messages.module';
import { OutboxWorkerModule } from '../../outbox/outbox-worker.module';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';
import { ChannelsConsumer } from './channels.consumer';
import { DueMessagesRepository } from './due-messages.repository';
import { OutboundMessageClaimer } from './outbound-message-claimer';
import { OutboundMessageProcessor } from './outbound-message.processor';
import { OutboundMessageQueueModule } from './outbound-message-queue.module';
import { OutboundMessageRouter } from './outbound-message-router';
import { OutboundMessageAttempter } from './outbound-message-attempter';
import { OutboundMessagePoll } from './outbound-message-poll';
import { OutboundMessageWorker } from './outbound-message.worker';
import { OutboundMessagesModule } from './outbound-messages.module';
import { OutboundMessageRecorder } from './outbound-message-recorder';
import { RoutedMessagesRepository } from './routed-messages.repository';
import { StaleMessageReconciler } from './stale-message-reconciler';
import { StaleMessagesRepository } from './stale-messages.repository';

/** Routes the messages of events to connections, and sends them to providers. */
@Module({
  imports: [
    MessagesModule,
    ProviderIdsModule,
    OutboundMessagesModule,
    OutboundMessageQueueModule,
    ChannelAdaptersModule,
    ChannelConnectionsModule,
    OutboxWorkerModule,
  ],
  providers: [
    ChannelsConsumer,
    OutboundMessageClaimer,
    OutboundMessageProcessor,
    OutboundMessageRouter,
    RoutedMessagesRepository,
    OutboundMessageAttempter,
    OutboundMessagePoll,
    OutboundMessageWorker,
    OutboundMessageRecorder,
    StaleMessageReconciler,
    StaleMessagesRepository,
    DueMessagesRepository,
    ThroughputLimiter,
  ],
})
export class OutboundMessagesWorkerModule {}
