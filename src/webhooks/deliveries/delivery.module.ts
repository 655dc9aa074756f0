import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { OutboxModule } from '../../outbox/outbox.module';
import { Pace } from '../../redis/pace';
import { queueOptions } from '../../redis/queue.options';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { AttemptFollowUp } from './attempt.follow-up';
import { DeliveryClaimer } from './delivery.claimer';
import { DeliveryDispatcher } from './delivery.dispatcher';
import { DeliveryProcessor } from './delivery.processor';
import { DELIVERY_QUEUE, DeliveryQueue } from './delivery.queue';
import { DeliverySweeper } from './delivery.sweeper';
import { NewDeliveries } from './new-deliveries';
import { EndpointHealth } from '../endpoints/endpoint-health';
import { EndpointPace } from './endpoint-pace';
import { RecoveryRunner } from '../recoveries/recovery.runner';
import { WebhooksConsumer } from '../webhooks.consumer';
import { WebhooksModule } from '../webhooks.module';

/** The worker's part of the webhooks: from events to deliveries, from deliveries to attempts. */
@Module({
  imports: [
    BullModule.registerQueueAsync({ name: DELIVERY_QUEUE, inject: [Config], useFactory: queueOptions }),
    WebhooksModule,
    OutboxModule,
    WorkspacesModule,
  ],
  providers: [
    AttemptFollowUp,
    DeliveryClaimer,
    DeliveryDispatcher,
    DeliveryQueue,
    DeliveryProcessor,
    DeliverySweeper,
    EndpointHealth,
    EndpointPace,
    NewDeliveries,
    Pace,
    RecoveryRunner,
    WebhooksConsumer,
  ],
})
export class DeliveryModule {}
