import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Actor,
  ApiKeysService,
  type ApiKeySummary,
  CreateApiKey,
  type CreatedApiKey,
  type Page,
  RevokeApiKey,
  type RevokedApiKey,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { toList } from '../http/list';

const KEYS_A_MINUTE = 20;

@Controller('api/workspaces/:workspaceId/api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ApiKeySummary>> {
    return toList(await this.keys.list(workspaceId, {}, actor));
  }

  @Post()
  @LimitedTo(KEYS_A_MINUTE, 'api-keys')
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: CreateApiKey,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedApiKey> {
    return this.keys.create(workspaceId, body, actor);
  }

  @Post(':id/revoke')
  @HttpCode(200)
  revoke(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: RevokeApiKey,
    @CurrentActor() actor: Actor,
  ): Promise<RevokedApiKey> {
    return this.keys.revoke(workspaceId, id, body, actor);
  }
}
