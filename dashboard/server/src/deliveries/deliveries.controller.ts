import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  type Actor,
  ListWebhookDeliveriesQuery,
  type Page,
  RedeliverDeliveries,
  type RedeliveryResult,
  WebhookDeliveriesService,
  type WebhookDeliveryDetail,
  type WebhookDeliverySummary,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';

@Controller('api/workspaces/:workspaceId')
export class DeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveriesService) {}

  @Get('webhook-endpoints/:id/deliveries')
  list(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @Query() query: ListWebhookDeliveriesQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<WebhookDeliverySummary>> {
    return this.deliveries.list(workspaceId, { ...query, endpointId }, actor);
  }

  @Get('deliveries/:id')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookDeliveryDetail> {
    return this.deliveries.get(workspaceId, id, actor);
  }

  @Post('deliveries/:id/redeliver')
  @HttpCode(200)
  redeliver(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookDeliveryDetail> {
    return this.deliveries.redeliver(workspaceId, id, actor);
  }

  @Post('deliveries/:id/retry')
  @HttpCode(200)
  retryNow(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookDeliveryDetail> {
    return this.deliveries.retryNow(workspaceId, id, actor);
  }

  /** Redelivers the deliveries that a person has selected. Returns a result for each delivery. */
  @Post('deliveries/redeliver')
  @HttpCode(200)
  async redeliverMany(
    @Param('workspaceId') workspaceId: string,
    @Body() body: RedeliverDeliveries,
    @CurrentActor() actor: Actor,
  ): Promise<Page<RedeliveryResult>> {
    return toList(await this.deliveries.redeliverMany(workspaceId, body, actor));
  }
}
