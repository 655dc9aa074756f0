import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Actor, Page } from 'conversation-messaging-service';
import {
  DemandSecondFactor,
  type SecondFactorDemand,
  SecondFactorDemandsService,
} from 'conversation-messaging-service/logins';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';

@Controller('api/workspaces/:workspaceId/second-factor-demand')
export class SecondFactorDemandController {
  constructor(private readonly demands: SecondFactorDemandsService) {}

  /** Lists the ids of the agents who have a second factor. */
  @Get('fulfilling')
  async listFulfilling(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<string>> {
    return toList(await this.demands.listFulfilling(workspaceId, actor));
  }

  @Post()
  @HttpCode(200)
  demand(
    @Param('workspaceId') workspaceId: string,
    @Body() body: DemandSecondFactor,
    @CurrentActor() actor: Actor,
  ): Promise<SecondFactorDemand> {
    return this.demands.demand(workspaceId, body, actor);
  }

  @Delete()
  @HttpCode(204)
  endDemand(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.demands.endDemand(workspaceId, actor);
  }
}
