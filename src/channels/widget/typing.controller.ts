import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isId } from '../../common/ids';
import { Public } from '../../http/access.decorators';
import { NoQuery } from '../../http/request.pipe';
import { VisitorPresence } from '../../inbox/presence/visitor-presence';
import { TypingGuard, type TypingRequest } from './typing.guard';
import { TokenRequired, WidgetDone, WidgetErrors } from './widget.decorators';
import { PostTyping } from './widget.dto';

/** Receives reports of typing without an SQL statement, because a page may send one every three seconds. */
@ApiTags('Widget')
@Public()
@UseGuards(TypingGuard)
@Controller('channels/widget/:siteKey/typing')
export class TypingController {
  constructor(private readonly presence: VisitorPresence) {}

  @Post()
  @HttpCode(204)
  @NoQuery()
  @TokenRequired()
  @WidgetDone('Report that the visitor types, or has ended; without effect while no stream of theirs is open')
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  async report(
    @Req() { tokenOwner }: TypingRequest,
    @Body() { conversationId, isTyping }: PostTyping,
  ): Promise<void> {
    const { tenantId, ...visitor } = tokenOwner;
    if (isId(conversationId)) await this.presence.type({ tenantId, conversationId }, visitor, isTyping);
  }
}
