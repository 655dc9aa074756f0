import { Module } from '@nestjs/common';
import { DeliveriesModule } from './deliveries/deliveries.module';
import { DeliveriesWorkerModule } from './deliveries/deliveries-worker.module';
import { EndpointsModule } from './endpoints/endpoints.module';
import { RecoveriesModule } from './recoveries/recoveries.module';
import { RecoveryMaker } from './recoveries/recovery-maker';
import { RecoveryRunner } from './recoveries/recovery-runner';
import { RecoveryTally } from './recoveries/recovery-tally';

/** Delivers events and runs recoveries, in workers. */
@Module({
  imports: [EndpointsModule, DeliveriesModule, DeliveriesWorkerModule, RecoveriesModule],
  providers: [RecoveryRunner, RecoveryMaker, RecoveryTally],
})
export class WebhooksWorkerModule {}
