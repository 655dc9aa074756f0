import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { CurrentPrincipal, RequireScope } from '../common/access.decorators';
import { type Page } from '../common/page';
import { actorOf, type Principal } from '../common/principal';
import { ListConversationsQuery, UpdateConversation } from './conversation.dto';
import { ConversationDetail, ConversationListItem, ConversationResponse } from './conversation.response';
import { ConversationsService } from './conversations.service';

@Controller('conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Get()
  @RequireScope('conversations:read')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @Query() query: ListConversationsQuery,
  ): Promise<Page<ConversationListItem>> {
    return this.conversations.list(tenant.id, query);
  }

  @Get(':id')
  @RequireScope('conversations:read')
  get(@CurrentPrincipal() { tenant }: Principal, @Param('id') id: string): Promise<ConversationDetail> {
    return this.conversations.get(tenant.id, id);
  }

  @Patch(':id')
  @RequireScope('conversations:write')
  update(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() changes: UpdateConversation,
  ): Promise<ConversationResponse> {
    return this.conversations.update(principal.tenant.id, id, changes, actorOf(principal));
  }
}
