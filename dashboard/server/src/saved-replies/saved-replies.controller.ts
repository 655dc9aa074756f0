import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import {
  type Actor,
  CreateSavedReply,
  type Page,
  SavedRepliesService,
  type SavedReplyResponse,
  UpdateSavedReply,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';

@Controller('api/workspaces/:workspaceId/saved-replies')
export class SavedRepliesController {
  constructor(private readonly replies: SavedRepliesService) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<SavedReplyResponse>> {
    return toList(await this.replies.list(workspaceId, actor));
  }

  @Post()
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: CreateSavedReply,
    @CurrentActor() actor: Actor,
  ): Promise<SavedReplyResponse> {
    return this.replies.create(workspaceId, body, actor);
  }

  @Patch(':id')
  update(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: UpdateSavedReply,
    @CurrentActor() actor: Actor,
  ): Promise<SavedReplyResponse> {
    return this.replies.update(workspaceId, id, body, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  delete(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.replies.delete(workspaceId, id, actor);
  }
}
