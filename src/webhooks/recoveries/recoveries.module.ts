import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/database.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { BrowsingModule } from '../browsing/browsing.module';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { RecoverySource } from './recovery-source';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveriesService } from './webhook-recoveries.service';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Delivers many events again. */
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
export class RecoveriesModule {}
