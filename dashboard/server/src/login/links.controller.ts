import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Origin } from 'conversation-messaging-service';
import { type LoginLink, LoginLinksService } from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import type { AcceptedLink } from '../api';
import { CurrentOrigin, Public } from '../http/access.decorators';
import { AcceptLinkBody, LinkBody } from './login.dto';
import { LinkAcceptance } from './link-acceptance';

/** The links of invitations and of new passwords. Their tokens come in bodies: no log and no history has them. */
@Controller('api/links')
@Public()
export class LinksController {
  constructor(
    private readonly links: LoginLinksService,
    private readonly acceptance: LinkAcceptance,
  ) {}

  @Post('describe')
  @HttpCode(200)
  describe(@Body() { token }: LinkBody, @CurrentOrigin() origin: Origin): Promise<LoginLink> {
    return this.links.describe(token, origin);
  }

  @Post('accept')
  @HttpCode(200)
  accept(
    @Body() body: AcceptLinkBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentOrigin() origin: Origin,
  ): Promise<AcceptedLink> {
    return this.acceptance.accept(body, { request, response, origin });
  }
}
