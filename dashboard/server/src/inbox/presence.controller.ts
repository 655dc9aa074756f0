import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  type Actor,
  type ConversationPresence,
  ListPresenceQuery,
  type Page,
  PresenceService,
  SignalPresence,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { toList } from '../http/list';

/**
 * Presence signals that a person can send in a minute. A page sends one every 3 s at most, and one at each
 * opened conversation.
 */
const MAX_SIGNALS = 240;

@Controller('api/workspaces/:workspaceId/inbox/presence')
export class PresenceController {
  constructor(private readonly presence: PresenceService) {}

  /** Lists who has each of the query's conversations open or writes in it. */
  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @Query() query: ListPresenceQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ConversationPresence>> {
    return toList(await this.presence.list(workspaceId, query, actor));
  }

  /** Records that the person uses the inbox, so that the person gets no notice meanwhile. */
  @Post('active')
  @HttpCode(204)
  @LimitedTo(MAX_SIGNALS, 'presence', { isOwnRow: true })
  keepActive(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.presence.keepActive(workspaceId, actor);
  }

  @Post()
  @HttpCode(204)
  @LimitedTo(MAX_SIGNALS, 'presence', { isOwnRow: true })
  signal(
    @Param('workspaceId') workspaceId: string,
    @Body() body: SignalPresence,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.presence.signal(workspaceId, body, actor);
  }
}
