import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { DeliveryRequests } from './delivery-requests';
import { DeliverySearch } from './delivery-search';
import { DeliverySubjects } from './delivery-subjects';
import { FirstAttempts } from './first-attempts';
import { HistorySearchRepository } from './history-search.repository';
import { PendingSearchRepository } from './pending-search.repository';
import { Redeliverer } from './redeliverer';
import { WebhookDeliveriesService } from './webhook-deliveries.service';
import { WebhookTestService } from './webhook-test.service';

/** Provides what a dashboard shows of deliveries and does to single ones. */
@Module({
  imports: [
    AuditModule,
    OutboxModule,
    RateLimitModule,
    WorkspacesModule,
    ConversationsModule,
    EndpointsModule,
    DeliveriesModule,
  ],
  providers: [
    WebhookDeliveriesService,
    WebhookTestService,
    DeliverySearch,
    DeliverySubjects,
    FirstAttempts,
    PendingSearchRepository,
    HistorySearchRepository,
    DeliveryRequests,
    Redeliverer,
  ],
  exports: [WebhookDeliveriesService, WebhookTestService, DeliverySearch],
})
export class BrowsingModule {}
