import { Module } from '@nestjs/common';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { ReceiptsModule } from '../receipts/receipts.module';
import { ChannelCustomersModule } from '../customers/channel-customers.module';
import { HOOK_CONTROLLERS } from './hook.controllers';
import { HookRefusals } from './hook-refusals';
import { HooksService } from './hooks.service';
import { InboundModule } from './inbound.module';

/** Serves the hooks: the routes outside the REST API that providers call without an API key. */
@Module({
  imports: [
    ChannelAdaptersModule,
    ChannelConnectionsModule,
    ChannelCustomersModule,
    InboundModule,
    ReceiptsModule,
    RateLimitModule,
  ],
  controllers: HOOK_CONTROLLERS,
  providers: [HooksService, HookRefusals],
})
export class HooksModule {}
