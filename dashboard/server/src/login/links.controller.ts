import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Origin } from 'conversation-messaging-service';
import { Public } from 'conversation-messaging-service/http';
import { LinksService, type LoginLink } from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import type { AcceptedLink } from '../api';
import { CurrentOrigin } from '../http/access.decorators';
import { AcceptLinkBody, LinkBody } from './login.dto';
import { LoginCookies } from './login-cookies';

/**
 * Accepts the links of invitations and of new passwords. The links' tokens are sent in request bodies, so
 * that access logs and the browser's history do not contain them.
 */
@Controller('api/links')
@Public()
export class LinksController {
  constructor(
    private readonly links: LinksService,
    private readonly cookies: LoginCookies,
  ) {}

  @Post('describe')
  @HttpCode(200)
  describe(@Body() { token }: LinkBody, @CurrentOrigin() origin: Origin): Promise<LoginLink> {
    return this.links.describe(token, origin);
  }

  @Post('accept')
  @HttpCode(200)
  async accept(
    @Body() { token, name, password }: AcceptLinkBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentOrigin() origin: Origin,
  ): Promise<AcceptedLink> {
    const browserToken = this.cookies.browserTokenOf(request);
    const sessionToken = this.cookies.sessionTokenOf(request);
    const input = { name, password, browserToken, sessionToken };
    return this.cookies.keepAccepted(response, await this.links.accept(token, input, origin));
  }
}
