import { FactoryProvider, Module } from '@nestjs/common';
import { DatabaseClock } from '../../database/database-clock';
import { MessagesModule } from '../../messages/messages.module';
import { OutboxWorkerModule } from '../../outbox/outbox.module';
import { QueueFloorsModule } from '../../queue/floors/queue-floors.module';
import { StartCapacity, startCapacityOf } from '../../queue/start-capacity';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { ChannelCustomersModule } from '../customers/channel-customers.module';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';
import { ChannelsConsumer } from './channels.consumer';
import { DueMessagesRepository } from './due-messages.repository';
import { OutboundMessageClaimer } from './outbound-message-claimer';
import { OutboundMessageProcessor } from './outbound-message.processor';
import { OUTBOUND_MESSAGE_QUEUE, OutboundMessageQueueModule } from './outbound-message-queue';
import { OutboundMessageRouter } from './outbound-message-router';
import { OutboundMessageAttempter } from './outbound-message-attempter';
import { OutboundMessagePoll } from './outbound-message-poll';
import { OutboundMessageWorker } from './outbound-message.worker';
import { OutboundMessagesModule } from './outbound-messages.module';
import { OutboundMessageRecorder } from './outbound-message-recorder';
import { RoutedMessagesRepository } from './routed-messages.repository';
import { StaleMessageReconciler } from './stale-message-reconciler';
import { StaleMessagesRepository } from './stale-messages.repository';

/** Limit of attempts in progress in this process. */
const MAX_IN_FLIGHT = 500;
/** Limit of attempts in progress over one connection, so that a slow provider does not delay the others. */
const MAX_PER_CONNECTION = 25;

const outboundCapacity: FactoryProvider<StartCapacity> = {
  provide: startCapacityOf(OUTBOUND_MESSAGE_QUEUE),
  inject: [DatabaseClock],
  useFactory: (clock: DatabaseClock) =>
    new StartCapacity({ total: MAX_IN_FLIGHT, perTarget: MAX_PER_CONNECTION, slow: 0 }, clock),
};

/** Routes the messages of events to connections, and sends them to providers. */
@Module({
  imports: [
    MessagesModule,
    QueueFloorsModule,
    ProviderIdsModule,
    OutboundMessagesModule,
    OutboundMessageQueueModule,
    ChannelAdaptersModule,
    ChannelConnectionsModule,
    ChannelCustomersModule,
    OutboxWorkerModule,
  ],
  providers: [
    outboundCapacity,
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
  ],
})
export class OutboundMessagesWorkerModule {}
