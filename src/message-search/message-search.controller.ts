import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Actor, type Principal } from '../access/principal';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import { ApiAnswer, ApiErrors } from '../http/api.decorators';
import { HasOwnBudget } from '../http/limits/request-budget';
import { FindMessagesQuery, FoundMessages, toSearch } from './message-search.dto';
import { MessageSearchService } from './message-search.service';

@ApiTags('Messages')
@Controller('messages/search')
export class MessageSearchController {
  constructor(private readonly messages: MessageSearchService) {}

  @Get()
  @RequireScope('conversations:read')
  @HasOwnBudget(() => true)
  @ApiAnswer('Search messages by their words, newest first', FoundMessages, {
    operationId: 'searchMessages',
    description: 'A message is found within 10 seconds after it was written.',
  })
  @ApiErrors('INVALID_QUERY')
  search(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Query() query: FindMessagesQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FoundMessages> {
    return this.messages.search(tenant.id, toSearch(query), actor, response);
  }
}
