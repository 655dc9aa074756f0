import { Module } from '@nestjs/common';
import { BrowsingModule } from './browsing/browsing.module';
import { EndpointsModule } from './endpoints/endpoints.module';
import { RecoveriesModule } from './recoveries/recoveries.module';
import { RollupsModule } from './rollups/rollups.module';

/** The dashboard's side of webhooks. Nothing here uses a queue or a schedule. */
@Module({
  imports: [EndpointsModule, BrowsingModule, RollupsModule, RecoveriesModule],
  exports: [EndpointsModule, BrowsingModule, RollupsModule, RecoveriesModule],
})
export class WebhooksModule {}
