import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import { ApiAnswer, ApiBodyErrors, ApiConversationId, ApiErrors, ApiPage } from '../http/api.decorators';
import { NoQuery } from '../http/request.pipe';
import { type Page } from '../common/page';
import { type Actor, type Principal } from '../access/principal';
import {
  ListConversationsQuery,
  UpdateConversation,
  ConversationDetail,
  ConversationResponse,
  ConversationRow,
} from './conversation.dto';
import { ConversationsService } from './conversations.service';

@ApiTags('Conversations')
@Controller('conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Get()
  @RequireScope('conversations:read')
  @ApiPage('List conversations, newest first, or by latest activity', ConversationRow)
  @ApiErrors('INVALID_QUERY')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Query() query: ListConversationsQuery,
  ): Promise<Page<ConversationRow>> {
    return this.conversations.list(tenant.id, query, actor);
  }

  @Get(':id')
  @RequireScope('conversations:read')
  @NoQuery()
  @ApiConversationId()
  @ApiAnswer('Get a conversation with its contact', ConversationDetail)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<ConversationDetail> {
    return this.conversations.get(tenant.id, id, actor);
  }

  @Patch(':id')
  @RequireScope('conversations:write')
  @NoQuery()
  @ApiConversationId()
  @ApiAnswer('Close, snooze, reopen or reassign a conversation', ConversationResponse)
  @ApiBodyErrors('NOT_FOUND')
  update(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() changes: UpdateConversation,
  ): Promise<ConversationResponse> {
    return this.conversations.update(tenant.id, id, changes, actor);
  }
}
