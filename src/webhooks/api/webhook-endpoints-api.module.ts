import { Module } from '@nestjs/common';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { BrowsingModule } from '../browsing/browsing.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { WebhookEndpointsController } from './webhook-endpoints.controller';

@Module({
  imports: [EndpointsModule, BrowsingModule, RateLimitModule],
  controllers: [WebhookEndpointsController],
})
export class WebhookEndpointsApiModule {}
