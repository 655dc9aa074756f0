import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Page, PageQuery } from '../../common/page';
import { type Actor, type Principal } from '../../access/principal';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../../http/access.decorators';
import {
  ApiAnswer,
  ApiBodyErrors,
  ApiErrors,
  ApiId,
  ApiIdempotencyKey,
  ApiNoContent,
  ApiPage,
} from '../../http/api.decorators';
import { NoQuery } from '../../http/request.pipe';
import { Idempotent, type IdempotentRequest } from '../../idempotency/idempotent-request';
import { WaitsOutside } from '../../http/limits/request-budget';
import { WebhookTestService } from '../testing/webhook-test.service';
import {
  CreatedWebhookEndpoint,
  RegisteredWebhookEndpoint,
  WebhookEndpointSummary,
} from '../endpoints/webhook-endpoint.dto';
import {
  CreateWebhookEndpoint,
  RollSecret,
  UpdateWebhookEndpoint,
} from '../endpoints/webhook-endpoint-input.dto';
import { WebhookEndpointsService } from '../endpoints/webhook-endpoints.service';
import { toTestResponse, WebhookTestResponse } from '../testing/webhook-test.dto';

const ApiEndpointId = () => ApiId('webhook endpoint', '019ab3f1-9a3b-7c44-8d55-6e7f8091a2b3');

@ApiTags('Webhook endpoints')
@Controller('webhook-endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly tests: WebhookTestService,
  ) {}

  @Get()
  @RequireScope('webhooks:read')
  @ApiPage('List webhook endpoints, newest first', WebhookEndpointSummary)
  @ApiErrors('INVALID_QUERY')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Query() query: PageQuery,
  ): Promise<Page<WebhookEndpointSummary>> {
    return this.endpoints.listPage(tenant.id, query, actor);
  }

  @Get(':id')
  @RequireScope('webhooks:read')
  @NoQuery()
  @ApiEndpointId()
  @ApiAnswer('Get a webhook endpoint', WebhookEndpointSummary)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<WebhookEndpointSummary> {
    return this.endpoints.get(tenant.id, id, actor);
  }

  @Post()
  @RequireScope('webhooks:write')
  @NoQuery()
  @WaitsOutside()
  @ApiIdempotencyKey('the endpoint as it was created, with `secret` null')
  @ApiAnswer('Create a webhook endpoint', RegisteredWebhookEndpoint, {
    status: 201,
    headers: ['Idempotency-Replayed'],
    description: 'The key needs the scope to read what the events tell. A workspace has up to 50 endpoints.',
  })
  @ApiBodyErrors('IDEMPOTENCY_CONFLICT')
  create(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Body() endpoint: CreateWebhookEndpoint,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<RegisteredWebhookEndpoint> {
    return this.endpoints.create(tenant.id, endpoint, actor, request);
  }

  @Patch(':id')
  @RequireScope('webhooks:write')
  @NoQuery()
  @WaitsOutside()
  @ApiEndpointId()
  @ApiAnswer('Change, activate or deactivate a webhook endpoint', WebhookEndpointSummary)
  @ApiBodyErrors('NOT_FOUND', 'CONFLICT')
  update(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() changes: UpdateWebhookEndpoint,
  ): Promise<WebhookEndpointSummary> {
    return this.endpoints.update(tenant.id, id, changes, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('webhooks:write')
  @NoQuery()
  @ApiEndpointId()
  @ApiNoContent('Delete a webhook endpoint')
  @ApiErrors('INVALID_QUERY', 'TRIAL_EXPIRED', 'NOT_FOUND')
  delete(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<void> {
    return this.endpoints.delete(tenant.id, id, actor);
  }

  @Post(':id/test')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @NoQuery()
  @WaitsOutside()
  @ApiEndpointId()
  @ApiAnswer('Send a test to a webhook endpoint', WebhookTestResponse, {
    description: 'Sends a `webhook.test` in one attempt, and waits for the answer, 10 seconds at most.',
  })
  @ApiErrors('INVALID_QUERY', 'TRIAL_EXPIRED', 'NOT_FOUND')
  test(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<WebhookTestResponse> {
    return this.tests.test(tenant.id, id, actor).then(toTestResponse);
  }

  @Post(':id/roll-secret')
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @NoQuery()
  @ApiEndpointId()
  @ApiAnswer('Give a webhook endpoint a new secret', CreatedWebhookEndpoint, {
    description:
      'It takes no Idempotency-Key. If the answer is lost, so is the new secret: roll again with ' +
      '`gracePeriodSeconds: 0`. Any other repetition is refused while the previous secret still signs.',
  })
  @ApiBodyErrors('NOT_FOUND')
  rollSecret(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() roll: RollSecret,
  ): Promise<CreatedWebhookEndpoint> {
    return this.endpoints.rollSecret(tenant.id, id, roll, actor);
  }
}
