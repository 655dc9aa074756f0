import { Body, Controller, Get, Param, Put, UseGuards } from '@nestjs/common';
import {
  type Actor,
  type DraftResponse,
  type DraftSummary,
  DraftsService,
  type Page,
  SaveDraft,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';
import { LimitedTo } from '../http/limit.guard';
import { WritableGuard } from './writable.guard';

/** Drafts that a person can save in a minute. A page saves at most once a second while its person types. */
const MAX_SAVES = 240;

@Controller('api/workspaces/:workspaceId')
@UseGuards(WritableGuard)
export class DraftsController {
  constructor(private readonly drafts: DraftsService) {}

  @Get('drafts')
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<DraftSummary>> {
    return toList(await this.drafts.list(workspaceId, actor));
  }

  @Get('conversations/:id/draft')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<DraftResponse> {
    return this.drafts.get(workspaceId, id, actor);
  }

  @Put('conversations/:id/draft')
  @LimitedTo(MAX_SAVES, 'drafts', { isOwnRow: true })
  save(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: SaveDraft,
    @CurrentActor() actor: Actor,
  ): Promise<DraftResponse> {
    return this.drafts.save(workspaceId, id, body, actor);
  }
}
