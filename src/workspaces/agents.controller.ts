import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import { ApiAnswer, ApiErrors, ApiId, ApiPage } from '../http/api.decorators';
import { NoQuery } from '../http/request.pipe';
import { type Page, PageQuery } from '../common/page';
import { type Actor, type Principal } from '../access/principal';
import { AgentResponse } from './agent.dto';
import { AgentsService } from './agents.service';

@ApiTags('Agents')
@Controller('agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get()
  @RequireScope('agents:read')
  @ApiPage('List agents and bot accounts, newest first', AgentResponse)
  @ApiErrors('INVALID_QUERY')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Query() query: PageQuery,
  ): Promise<Page<AgentResponse>> {
    return this.agents.listPage(tenant.id, query, actor);
  }

  @Get(':id')
  @RequireScope('agents:read')
  @NoQuery()
  @ApiId('agent', '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f')
  @ApiAnswer('Get an agent', AgentResponse)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<AgentResponse> {
    return this.agents.get(tenant.id, id, actor);
  }
}
