import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentPrincipal, RequireScope } from '../common/access.decorators';
import { type Page, PageQuery } from '../common/page';
import { type Principal } from '../common/principal';
import { Idempotent, type IdempotentRequest } from '../idempotency/idempotent-request';
import { SendMessage } from './message.dto';
import { MessageResponse, SentMessageResponse } from './message.response';
import { MessagesService } from './messages.service';

@Controller('conversations/:id/messages')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Get()
  @RequireScope('messages:read', 'conversations:read')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @Param('id') id: string,
    @Query() query: PageQuery,
  ): Promise<Page<MessageResponse>> {
    return this.messages.list(tenant.id, id, query);
  }

  @Post()
  @RequireScope('messages:write')
  send(
    @CurrentPrincipal() { tenant }: Principal,
    @Param('id') id: string,
    @Body() message: SendMessage,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<SentMessageResponse> {
    return this.messages.send(tenant.id, id, message, request);
  }
}
