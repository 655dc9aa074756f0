import { Module } from '@nestjs/common';
import { DeliveriesWorkerModule } from './deliveries/deliveries-worker.module';
import { RecoveriesWorkerModule } from './recoveries/recoveries-worker.module';

/** Delivers events and runs recoveries, in workers. */
@Module({ imports: [DeliveriesWorkerModule, RecoveriesWorkerModule] })
export class WebhooksWorkerModule {}
