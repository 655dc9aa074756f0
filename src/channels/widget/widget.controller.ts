import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Options,
  Param,
  Patch,
  Post,
  Query,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../http/access.decorators';
import { NoQuery } from '../../http/request.pipe';
import { type Page, PageQuery } from '../../common/page';
import { type Visitor, type VisitorRequest, type Widget } from './visitor';
import { VisitorMessagesService } from './visitor-messages.service';
import { VisitorSessionsService } from './visitor-sessions.service';
import { VisitorStreams } from './visitor-streams';
import {
  ApiClientMessageId,
  CurrentVisitor,
  CurrentWidget,
  ForVisitors,
  LinkAllowed,
  TokenOptional,
  TokenRequired,
  WidgetAnswer,
  WidgetErrors,
  WidgetEvents,
  WidgetPage,
} from './widget.decorators';
import {
  PostedMessageResponse,
  ReceiptResponse,
  SessionResponse,
  VisitorMessageResponse,
} from './widget-answers.dto';
import { EditMessage, OpenSession, PostMessage, PostReceipt } from './widget.dto';
import { CALLS, WidgetGuard, type WidgetLimit, WidgetSlotInterceptor } from './widget.guards';

const SESSIONS: WidgetLimit = {
  by: 'address',
  name: 'sessions',
  max: 60,
  excess: 'Too many sessions from this address.',
};
/** Limit of new visitors of a widget. Without it, many addresses could fill a workspace with contacts. */
const NEW_VISITORS: WidgetLimit = {
  by: 'widget',
  name: 'new-visitors',
  max: ({ widgetNewVisitors }) => widgetNewVisitors,
  excess: 'Too many new visitors of this widget.',
  counts: ({ visitor, body }: Partial<VisitorRequest>) =>
    !visitor && !(body as OpenSession | undefined)?.visitor,
};
const MESSAGES: WidgetLimit = { by: 'visitor', name: 'messages', max: 30, excess: 'Too many messages.' };
const MESSAGES_FROM_ADDRESS: WidgetLimit = {
  by: 'address',
  name: 'messages-from',
  max: 120,
  excess: 'Too many messages from this address.',
};
const MESSAGES_OF_WIDGET: WidgetLimit = {
  by: 'widget',
  name: 'messages-of',
  max: ({ widgetMessages }) => widgetMessages,
  excess: 'Too many messages to this widget.',
};

/** Serves the widget's routes. No trial guard applies, so that customers can write after the trial. */
@ApiTags('Widget')
@Public()
@UseGuards(WidgetGuard)
@UseInterceptors(WidgetSlotInterceptor)
@Controller('channels/widget/:siteKey')
export class WidgetController {
  constructor(
    private readonly sessions: VisitorSessionsService,
    private readonly messages: VisitorMessagesService,
    private readonly streams: VisitorStreams,
  ) {}

  /** Answers a CORS preflight; WidgetGuard has set its headers. */
  @Options(['sessions', 'messages', 'messages/:clientMessageId', 'events', 'receipts', 'typing'])
  @HttpCode(204)
  @ApiExcludeEndpoint()
  preflight(): void {}

  @Post('sessions')
  @NoQuery()
  @ForVisitors(SESSIONS, NEW_VISITORS)
  @TokenOptional()
  @WidgetAnswer('Begin a session, or renew one', SessionResponse, 201)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  openSession(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor | null,
    @Body() session: OpenSession,
  ): Promise<SessionResponse> {
    return this.sessions.open(widget, visitor, session);
  }

  @Post('messages')
  @NoQuery()
  @ForVisitors(CALLS, MESSAGES, MESSAGES_FROM_ADDRESS, MESSAGES_OF_WIDGET)
  @TokenRequired()
  @LinkAllowed()
  @WidgetAnswer('Write a message; 200 when it was stored before', PostedMessageResponse, 200, 201)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  postMessage(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Body() message: PostMessage,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PostedMessageResponse> {
    return this.messages.post(widget, visitor, message, () => response.status(200));
  }

  @Patch('messages/:clientMessageId')
  @NoQuery()
  @ForVisitors(CALLS, MESSAGES, MESSAGES_FROM_ADDRESS, MESSAGES_OF_WIDGET)
  @TokenRequired()
  @ApiClientMessageId()
  @WidgetAnswer("Edit a message of the visitor's", PostedMessageResponse, 200)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  editMessage(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Param('clientMessageId') clientMessageId: string,
    @Body() edit: EditMessage,
  ): Promise<PostedMessageResponse> {
    return this.messages.edit(widget, visitor, clientMessageId, edit);
  }

  @Delete('messages/:clientMessageId')
  @NoQuery()
  @ForVisitors(CALLS, MESSAGES, MESSAGES_FROM_ADDRESS, MESSAGES_OF_WIDGET)
  @TokenRequired()
  @ApiClientMessageId()
  @WidgetAnswer("Take a message of the visitor's back, which erases it", PostedMessageResponse, 200)
  @WidgetErrors('INVALID_QUERY')
  unsendMessage(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Param('clientMessageId') clientMessageId: string,
  ): Promise<PostedMessageResponse> {
    return this.messages.unsend(widget, visitor, clientMessageId);
  }

  @Get('messages')
  @ForVisitors(CALLS)
  @TokenRequired()
  @LinkAllowed()
  @WidgetPage("List the messages of the visitor's conversation, newest first", VisitorMessageResponse)
  @WidgetErrors('INVALID_QUERY')
  listMessages(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Query() query: PageQuery,
  ): Promise<Page<VisitorMessageResponse>> {
    return this.messages.list(widget, visitor, query);
  }

  @Post('receipts')
  @HttpCode(200)
  @NoQuery()
  @ForVisitors(CALLS)
  @TokenRequired()
  @LinkAllowed()
  @WidgetAnswer('Report that outbound messages were delivered or read', ReceiptResponse, 200)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  postReceipt(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Body() receipt: PostReceipt,
  ): Promise<ReceiptResponse> {
    return this.messages.receive(widget, visitor, receipt);
  }

  @Get('events')
  @NoQuery()
  @ForVisitors(CALLS)
  @TokenRequired()
  @WidgetEvents(
    'Receive messages as they are stored',
    'Server-sent events: `ready`, `message`, `typing`, `heartbeat` every 15 s, `end`. Each carries `sequence`, the number of ' +
      "the conversation's last event. If it is higher than the client's, the client reads the messages.",
  )
  @WidgetErrors('INVALID_QUERY')
  streamEvents(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    return this.streams.open(widget, visitor, response);
  }
}
