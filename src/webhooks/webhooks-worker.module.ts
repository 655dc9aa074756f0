import { Module } from '@nestjs/common';
import { DeliveriesWorkerModule } from './deliveries/deliveries-worker.module';
import { RecoveriesWorkerModule } from './recoveries/recoveries-worker.module';

/** The worker's side of webhooks: it delivers, and runs recoveries. */
@Module({ imports: [DeliveriesWorkerModule, RecoveriesWorkerModule] })
export class WebhooksWorkerModule {}
