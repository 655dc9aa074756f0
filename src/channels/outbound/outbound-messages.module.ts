import { Module } from '@nestjs/common';
import { OutboxModule } from '../../outbox/outbox.module';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { ChannelsModule } from '../channels.module';
import { MessageProgress } from '../receipts/message-progress';
import { ChannelsConsumer } from './channels.consumer';
import { OutboundMessageClaimer } from './outbound-message.claimer';
import { OutboundMessageWorker } from './outbound-message.worker';
import { SendFollowUp } from './send-follow-up';
import { OutboundMessageProcessor } from './outbound-message.processor';
import { OutboundMessageQueueModule } from './outbound-message.queue';
import { SendResultRecorder } from './send-result.recorder';
import { OutboundMessageRouter } from './outbound-message.router';
import { OutboundMessageSender } from './outbound-message.sender';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { OutboundMessageSweeper } from './outbound-message.sweeper';
import { StaleMessages } from './stale-messages';
import { UnroutedMessages } from './unrouted-messages';

/** The worker's part of the channels: from events to dispatches, from dispatches to providers. */
@Module({
  imports: [OutboundMessageQueueModule, ChannelsModule, OutboxModule],
  providers: [
    ChannelsConsumer,
    OutboundMessageClaimer,
    OutboundMessageWorker,
    SendFollowUp,
    OutboundMessageProcessor,
    SendResultRecorder,
    OutboundMessageRouter,
    OutboundMessageSender,
    OutboundMessagesRepository,
    OutboundMessageSweeper,
    StaleMessages,
    MessageProgress,
    ThroughputLimiter,
    UnroutedMessages,
  ],
})
export class OutboundMessagesModule {}
