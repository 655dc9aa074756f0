import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import {
  type Actor,
  CreateNote,
  type NoteResponse,
  NotesService,
  type Page,
  PageQuery,
} from 'conversation-messaging-service';
import { Idempotent, type IdempotentRequest } from 'conversation-messaging-service/http';
import { CurrentActor } from '../http/access.decorators';
import { WritableGuard } from './writable.guard';

@Controller('api/workspaces/:workspaceId')
@UseGuards(WritableGuard)
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @Get('conversations/:id/notes')
  list(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() query: PageQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<NoteResponse>> {
    return this.notes.list(workspaceId, id, query, actor);
  }

  /** Creates a note. The page's `Idempotency-Key` makes sure that pressing the button twice creates one. */
  @Post('conversations/:id/notes')
  create(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: CreateNote,
    @CurrentActor() actor: Actor,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<NoteResponse> {
    return this.notes.create(workspaceId, id, body, actor, request);
  }

  @Delete('notes/:id')
  @HttpCode(204)
  delete(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.notes.delete(workspaceId, id, actor);
  }
}
