import { Body, Controller, Get, Param, Post, Query, UseGuards } from '@nestjs/common';
import {
  type Actor,
  ListMessagesPartQuery,
  type MessagesPart,
  MessagesService,
  SendReply,
  type SentReplyResponse,
} from 'conversation-messaging-service';
import { Idempotent, type IdempotentRequest } from 'conversation-messaging-service/http';
import { CurrentActor } from '../http/access.decorators';
import { WritableGuard } from './writable.guard';

@Controller('api/workspaces/:workspaceId/conversations/:id/messages')
@UseGuards(WritableGuard)
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Get()
  list(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() query: ListMessagesPartQuery,
    @CurrentActor() actor: Actor,
  ): Promise<MessagesPart> {
    return this.messages.listPart(workspaceId, id, query, actor);
  }

  /** Sends a reply. The page's `Idempotency-Key` makes sure that pressing Send twice sends one reply. */
  @Post()
  send(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: SendReply,
    @CurrentActor() actor: Actor,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<SentReplyResponse> {
    return this.messages.send(workspaceId, id, body, actor, request);
  }
}
