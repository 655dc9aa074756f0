import {
  Body,
  Controller,
  Get,
  HttpCode,
  Options,
  Post,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../http/access.decorators';
import { NoQuery } from '../../http/request.pipe';
import { ANSWERS_PAGE, ANSWERS_POLICY } from './answers-page';
import { type Visitor, type Widget } from './visitor';
import {
  CurrentVisitor,
  CurrentWidget,
  ForVisitors,
  TokenRequired,
  WidgetAnswer,
  WidgetDone,
  WidgetErrors,
} from './widget.decorators';
import { VisitorAddressesService } from './visitor-addresses.service';
import { AnswerAddressResponse } from './widget-answers.dto';
import { GiveAddress } from './widget.dto';
import { CALLS, WidgetGuard, type WidgetLimit, WidgetSlotInterceptor } from './widget.guards';

const ADDRESSES: WidgetLimit = { by: 'visitor', name: 'addresses', max: 5, excess: 'Too many addresses.' };
const ADDRESSES_FROM_ADDRESS: WidgetLimit = {
  by: 'address',
  name: 'addresses-from',
  max: 20,
  excess: 'Too many e-mail addresses from this address.',
};
const ADDRESSES_OF_WIDGET: WidgetLimit = {
  by: 'widget',
  name: 'addresses-of',
  max: 200,
  excess: 'Too many e-mail addresses at this widget.',
};

/** Takes the addresses for unread answers, and serves the page that the links in mails open. */
@ApiTags('Widget')
@Public()
@UseGuards(WidgetGuard)
@UseInterceptors(WidgetSlotInterceptor)
@Controller('channels/widget/:siteKey')
export class AnswersController {
  constructor(private readonly addresses: VisitorAddressesService) {}

  @Options('answer-address')
  @HttpCode(204)
  @ApiExcludeEndpoint()
  preflight(): void {}

  @Post('answer-address')
  @HttpCode(204)
  @NoQuery()
  @ForVisitors(CALLS, ADDRESSES, ADDRESSES_FROM_ADDRESS, ADDRESSES_OF_WIDGET)
  @TokenRequired()
  @WidgetDone('Say where answers go that the visitor does not read in the widget')
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  giveAddress(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Body() address: GiveAddress,
  ): Promise<void> {
    return this.addresses.give(widget, visitor, address);
  }

  @Get('answer-address')
  @NoQuery()
  @ForVisitors(CALLS)
  @TokenRequired()
  @WidgetAnswer('Ask whether there is an address for answers', AnswerAddressResponse, 200)
  @WidgetErrors('INVALID_QUERY')
  getAddress(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<AnswerAddressResponse> {
    return this.addresses.getState(widget, visitor);
  }

  @Get('answers')
  @NoQuery()
  @ApiExcludeEndpoint()
  showPage(@Res({ passthrough: true }) response: Response): string {
    response.type('html').set(ANSWERS_POLICY);
    return ANSWERS_PAGE;
  }
}
