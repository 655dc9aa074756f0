import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { IdempotencyModule } from '../../idempotency/idempotency.module';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { SendingModule } from '../sending/sending.module';
import { ENDPOINT_TABLES } from './endpoint-tables';
import { EndpointRegistration } from './endpoint-registration';
import { EndpointsOfKeys } from './endpoints-of-keys';
import { PendingCancellationsRepository } from './pending-cancellations.repository';
import { EndpointSubscription } from './subscription';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';

/** Provides the endpoints of workspaces, with their secrets and subscriptions. */
@Module({
  imports: [
    DatabaseModule.forEntities([WebhookEndpointEntity]),
    AccessModule,
    AuditModule,
    IdempotencyModule,
    RateLimitModule,
    SecretsModule,
    WorkspacesModule,
    SendingModule,
  ],
  providers: [
    WebhookEndpointsService,
    EndpointRegistration,
    EndpointSubscription,
    EndpointsOfKeys,
    WebhookEndpointsRepository,
    PendingCancellationsRepository,
  ],
  exports: [
    WebhookEndpointsService,
    EndpointSubscription,
    WebhookEndpointsRepository,
    PendingCancellationsRepository,
  ],
})
export class EndpointsModule {
  constructor(tables: TableRegistry) {
    tables.register(...ENDPOINT_TABLES);
  }
}
