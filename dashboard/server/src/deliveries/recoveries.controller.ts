import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Actor,
  AutomaticRecoveriesService,
  type Page,
  RecoverEndpoint,
  WebhookRecoveriesService,
  type WebhookRecoverySummary,
} from 'conversation-messaging-service';
import type { AutomaticRecoveryResponse } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { toList } from '../http/list';
import { RedeliverMatchingBody, toMatching } from './delivery.dto';

/** Recoveries that a person can start in a minute: few, because each counts many deliveries first. */
const STARTS_A_MINUTE = 20;

/**
 * Starts, lists and cancels recoveries. A recovery delivers again all events that an endpoint missed, or all
 * deliveries that match a filter. A worker performs it in the background and records its progress.
 */
@Controller('api/workspaces/:workspaceId')
export class RecoveriesController {
  constructor(
    private readonly recoveries: WebhookRecoveriesService,
    private readonly automatic: AutomaticRecoveriesService,
  ) {}

  @Get('webhook-endpoints/:id/automatic-recovery')
  async getAutomatic(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @CurrentActor() actor: Actor,
  ): Promise<AutomaticRecoveryResponse> {
    return { data: await this.automatic.get(workspaceId, endpointId, actor) };
  }

  @Delete('webhook-endpoints/:id/automatic-recovery')
  @HttpCode(204)
  cancelAutomatic(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.automatic.cancel(workspaceId, endpointId, actor);
  }

  @Get('webhook-endpoints/:id/recoveries')
  async list(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<WebhookRecoverySummary>> {
    return toList(await this.recoveries.list(workspaceId, endpointId, actor));
  }

  @Post('webhook-endpoints/:id/recoveries')
  @LimitedTo(STARTS_A_MINUTE, 'recoveries')
  recoverMissed(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @Body() body: RecoverEndpoint,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    return this.recoveries.recoverMissed(workspaceId, endpointId, body, actor);
  }

  @Post('webhook-endpoints/:id/redeliveries')
  @LimitedTo(STARTS_A_MINUTE, 'recoveries')
  redeliverMatching(
    @Param('workspaceId') workspaceId: string,
    @Param('id') endpointId: string,
    @Body() { filter, dryRun }: RedeliverMatchingBody,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    return this.recoveries.redeliverMatching(workspaceId, toMatching(filter, endpointId), { dryRun }, actor);
  }

  @Get('recoveries/:id')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    return this.recoveries.get(workspaceId, id, actor);
  }

  @Post('recoveries/:id/cancel')
  @HttpCode(200)
  cancel(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    return this.recoveries.cancel(workspaceId, id, actor);
  }
}
