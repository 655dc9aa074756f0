import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../http/access.decorators';
import { clientNetworkOf } from '../../http/connections/client-network';
import { NoQuery } from '../../http/request.pipe';
import { END_PAGE_POLICY, endPage } from './alert-mail-end-page';
import { AlertMailEndsService } from './alert-mail-ends.service';

/**
 * Serves the links in mails about alerts that end them. Only POST ends anything, because programs that scan
 * mails follow links. A mail program posts `List-Unsubscribe=One-Click` (RFC 8058), which needs no reading.
 */
@ApiExcludeController()
@Public()
@Controller('alert-mails')
export class AlertMailEndsController {
  constructor(private readonly ends: AlertMailEndsService) {}

  @Get(':token')
  @NoQuery()
  async show(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    await this.ends.require(token, clientNetworkOf(request));
    return sendPage(request, response, 'question');
  }

  @Post(':token')
  @HttpCode(200)
  @NoQuery()
  async end(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    await this.ends.end(token, clientNetworkOf(request));
    return sendPage(request, response, 'done');
  }
}

function sendPage(request: Request, response: Response, content: 'question' | 'done'): string {
  response.type('html').set(END_PAGE_POLICY);
  return endPage(request.acceptsLanguages('en', 'de') === 'de' ? 'de' : 'en', content);
}
