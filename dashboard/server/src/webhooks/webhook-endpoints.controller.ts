import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  type Actor,
  type CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  EndpointStatisticsService,
  type Page,
  RollSecret,
  SendExample,
  UpdateWebhookEndpoint,
  WebhookEndpointsService,
  type WebhookEndpointSummary,
  type WebhookTestResult,
  WebhookTestService,
  type WebhookTimeline,
} from 'conversation-messaging-service';
import type { UrlCheck, WebhookEndpointListItem, WebhookEndpointResponse } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { CheckUrlBody, TimelineQuery } from './webhook-endpoint.dto';
import { WebhookEndpointViews } from './webhook-endpoint-views';

/** Tests that a person can start in a minute: few, because each sends a request to a URL of their choice. */
const TESTS_A_MINUTE = 10;
/** Endpoints that a person can create or edit in a minute: few, because each may cause a DNS query. */
const ENDPOINTS_A_MINUTE = 20;
/** URLs that a person can have checked in a minute. It is limited because each may cause a DNS query. */
const CHECKS_A_MINUTE = 60;

@Controller('api/workspaces/:workspaceId/webhook-endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly tests: WebhookTestService,
    private readonly statistics: EndpointStatisticsService,
    private readonly views: WebhookEndpointViews,
  ) {}

  @Get()
  list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<WebhookEndpointListItem>> {
    return this.views.list(workspaceId, actor);
  }

  @Post()
  @LimitedTo(ENDPOINTS_A_MINUTE, 'webhook-endpoints')
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: CreateWebhookEndpoint,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedWebhookEndpoint> {
    return this.endpoints.create(workspaceId, body, actor);
  }

  @Post('check-url')
  @HttpCode(200)
  @LimitedTo(CHECKS_A_MINUTE, 'check-url')
  checkUrl(
    @Param('workspaceId') workspaceId: string,
    @Body() { url }: CheckUrlBody,
    @CurrentActor() actor: Actor,
  ): Promise<UrlCheck> {
    return this.views.checkUrl(workspaceId, url, actor);
  }

  @Get(':id')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookEndpointResponse> {
    return this.views.get(workspaceId, id, actor);
  }

  @Patch(':id')
  @LimitedTo(ENDPOINTS_A_MINUTE, 'webhook-endpoints')
  update(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: UpdateWebhookEndpoint,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.endpoints.update(workspaceId, id, body, actor);
  }

  @Get(':id/timeline')
  timeline(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() { period }: TimelineQuery,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookTimeline> {
    return this.statistics.getTimeline(workspaceId, id, period, actor);
  }

  @Post(':id/deactivate')
  @HttpCode(200)
  deactivate(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.endpoints.deactivate(workspaceId, id, actor);
  }

  @Post(':id/activate')
  @HttpCode(200)
  activate(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.endpoints.activate(workspaceId, id, actor);
  }

  @Post(':id/test')
  @HttpCode(200)
  @LimitedTo(TESTS_A_MINUTE, 'webhook-test')
  test(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookTestResult> {
    return this.tests.test(workspaceId, id, actor);
  }

  @Post(':id/send-example')
  @HttpCode(200)
  @LimitedTo(TESTS_A_MINUTE, 'webhook-test')
  sendExample(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: SendExample,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookTestResult> {
    return this.tests.sendExample(workspaceId, id, body, actor);
  }

  @Post(':id/roll-secret')
  @HttpCode(200)
  rollSecret(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: RollSecret,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedWebhookEndpoint> {
    return this.endpoints.rollSecret(workspaceId, id, body, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  delete(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.endpoints.delete(workspaceId, id, actor);
  }
}
