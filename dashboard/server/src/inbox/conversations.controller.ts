import {
  Body,
  Controller,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  Patch,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import {
  type Actor,
  type ConversationChange,
  type ConversationDetail,
  type ConversationResponse,
  ConversationsService,
  DismissMessage,
  ListActiveConversationsQuery,
  LostMessagesService,
  type Page,
  PageQuery,
  UpdateConversation,
} from 'conversation-messaging-service';
import type { InboxConversation, InboxCounts } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { InboxViews } from './inbox-views';
import { WritableGuard } from './writable.guard';

@Controller('api/workspaces/:workspaceId/conversations')
@UseGuards(WritableGuard)
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly lost: LostMessagesService,
    private readonly views: InboxViews,
  ) {}

  @Get()
  list(
    @Param('workspaceId') workspaceId: string,
    @Query() query: ListActiveConversationsQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<InboxConversation>> {
    return this.views.list(workspaceId, query, actor);
  }

  @Get('counts')
  count(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<InboxCounts> {
    return this.views.count(workspaceId, actor);
  }

  @Get(':id')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<ConversationDetail> {
    return this.conversations.get(workspaceId, id, actor);
  }

  @Get(':id/changes')
  listChanges(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() query: PageQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ConversationChange>> {
    return this.conversations.listChanges(workspaceId, id, query, actor);
  }

  @Post(':id/dismissals')
  @HttpCode(HttpStatus.NO_CONTENT)
  dismiss(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: DismissMessage,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.lost.dismiss(workspaceId, id, body, actor);
  }

  @Patch(':id')
  update(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: UpdateConversation,
    @CurrentActor() actor: Actor,
  ): Promise<ConversationResponse> {
    return this.conversations.update(workspaceId, id, body, actor);
  }
}
