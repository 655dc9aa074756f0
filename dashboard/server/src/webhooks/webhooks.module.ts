import { Module } from '@nestjs/common';
import { EventTypesController } from './event-types.controller';
import { WebhookEndpointViews } from './webhook-endpoint-views';
import { WebhookEndpointsController } from './webhook-endpoints.controller';

@Module({
  controllers: [WebhookEndpointsController, EventTypesController],
  providers: [WebhookEndpointViews],
})
export class DashboardWebhooksModule {}
