import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import {
  type Actor,
  type FoundConversation,
  type FoundMessages,
  MessageSearchService,
  SearchConversationsQuery,
  SearchMessagesQuery,
} from 'conversation-messaging-service';
import { HasOwnBudget } from 'conversation-messaging-service/http';
import type { Response } from 'express';
import { CurrentActor } from '../http/access.decorators';

@Controller('api/workspaces/:workspaceId/inbox/search')
export class InboxSearchController {
  constructor(private readonly messages: MessageSearchService) {}

  @Get()
  @HasOwnBudget(() => true)
  search(
    @Param('workspaceId') workspaceId: string,
    @Query() query: SearchMessagesQuery,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FoundMessages> {
    return this.messages.search(workspaceId, query, actor, response);
  }

  /** Finds conversations by their contacts' names, e-mail addresses and phone numbers. */
  @Get('contacts')
  @HasOwnBudget(() => true)
  async searchContacts(
    @Param('workspaceId') workspaceId: string,
    @Query() query: SearchConversationsQuery,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ data: FoundConversation[] }> {
    return { data: await this.messages.searchContacts(workspaceId, query, actor, response) };
  }
}
