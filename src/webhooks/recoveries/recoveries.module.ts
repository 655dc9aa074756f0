import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { BrowsingModule } from '../browsing/browsing.module';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { RecoverySource } from './recovery-source';
import { recoveryTables } from './recovery-tables';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveriesService } from './webhook-recoveries.service';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Provides recoveries, which deliver many events to an endpoint again. */
@Module({
  imports: [
    DatabaseModule.forEntities([WebhookRecoveryEntity]),
    AuditModule,
    OutboxModule,
    EndpointsModule,
    DeliveriesModule,
    BrowsingModule,
  ],
  providers: [WebhookRecoveriesService, RecoverySource, WebhookRecoveriesRepository],
  exports: [WebhookRecoveriesService, RecoverySource, WebhookRecoveriesRepository],
})
export class RecoveriesModule {
  constructor(tables: TableRegistry, recoveries: WebhookRecoveriesRepository) {
    tables.register(...recoveryTables(recoveries));
  }
}
