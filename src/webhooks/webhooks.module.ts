import { Module } from '@nestjs/common';
import { BrowsingModule } from './browsing/browsing.module';
import { EndpointsModule } from './endpoints/endpoints.module';
import { RecoveriesModule } from './recoveries/recoveries.module';
import { RollupsModule } from './rollups/rollups.module';

/** Provides the webhook services of the dashboard and the CLI. It uses no queue and no schedule. */
@Module({
  imports: [EndpointsModule, BrowsingModule, RollupsModule, RecoveriesModule],
  exports: [EndpointsModule, BrowsingModule, RollupsModule, RecoveriesModule],
})
export class WebhooksModule {}
