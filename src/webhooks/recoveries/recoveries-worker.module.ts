import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { DeliveriesWorkerModule } from '../deliveries/deliveries-worker.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { RecoveriesModule } from './recoveries.module';
import { RecoveryRunner } from './recovery-runner';

/** Runs recoveries, in workers. */
@Module({
  imports: [EndpointsModule, DeliveriesModule, DeliveriesWorkerModule, RecoveriesModule],
  providers: [RecoveryRunner],
})
export class RecoveriesWorkerModule {}
