import { Module } from '@nestjs/common';
import { OutboxModule } from '../../outbox/outbox.module';
import { Pace } from '../../redis/pace';
import { ChannelsModule } from '../channels.module';
import { MessageProgress } from '../receipts/message-progress';
import { ChannelsConsumer } from './channels.consumer';
import { DispatchClaimer } from './dispatch.claimer';
import { DispatchDispatcher } from './dispatch.dispatcher';
import { DispatchFollowUp } from './dispatch.follow-up';
import { DispatchProcessor } from './dispatch.processor';
import { DispatchQueueModule } from './dispatch.queue';
import { DispatchRecorder } from './dispatch.recorder';
import { DispatchRouter } from './dispatch.router';
import { DispatchSender } from './dispatch.sender';
import { DispatchStore } from './dispatch.store';
import { DispatchSweeper } from './dispatch.sweeper';
import { ForgottenDispatches } from './forgotten-dispatches';
import { UnroutedMessages } from './unrouted-messages';

/** The worker's part of the channels: from events to dispatches, from dispatches to providers. */
@Module({
  imports: [DispatchQueueModule, ChannelsModule, OutboxModule],
  providers: [
    ChannelsConsumer,
    DispatchClaimer,
    DispatchDispatcher,
    DispatchFollowUp,
    DispatchProcessor,
    DispatchRecorder,
    DispatchRouter,
    DispatchSender,
    DispatchStore,
    DispatchSweeper,
    ForgottenDispatches,
    MessageProgress,
    Pace,
    UnroutedMessages,
  ],
})
export class DispatchModule {}
