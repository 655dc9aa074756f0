import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import {
  ApiAnswer,
  ApiBodyErrors,
  ApiConversationId,
  ApiErrors,
  ApiIdempotencyKey,
  ApiPage,
} from '../http/api.decorators';
import { NoQuery } from '../http/request.pipe';
import { type Page } from '../common/page';
import { type Actor, type Principal } from '../access/principal';
import { Idempotent, type IdempotentRequest } from '../idempotency/idempotent-request';
import { ListMessagesQuery, SendMessage, MessageResponse, SentMessageResponse } from './message.dto';
import { MessagesService } from './messages.service';

@ApiTags('Messages')
@Controller('conversations/:id/messages')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Get()
  @RequireScope('messages:read', 'conversations:read')
  @ApiConversationId()
  @ApiPage("List a conversation's messages, newest first", MessageResponse)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
  ): Promise<Page<MessageResponse>> {
    return this.messages.list(tenant.id, id, query, actor);
  }

  @Post()
  @RequireScope('messages:write')
  @NoQuery()
  @ApiConversationId()
  @ApiIdempotencyKey()
  @ApiAnswer('Send a message as an agent', SentMessageResponse, {
    status: 201,
    headers: ['Idempotency-Replayed'],
  })
  @ApiBodyErrors('NOT_FOUND', 'IDEMPOTENCY_CONFLICT')
  send(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() message: SendMessage,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<SentMessageResponse> {
    return this.messages.send(tenant.id, id, message, actor, request);
  }
}
