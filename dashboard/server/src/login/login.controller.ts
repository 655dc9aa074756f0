import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Origin } from 'conversation-messaging-service';
import { Public } from 'conversation-messaging-service/http';
import {
  LoginsService,
  PasswordsService,
  RequestPasswordReset,
  type SessionHolder,
} from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import type { Done, LoginResponse } from '../api';
import { CurrentHolder, CurrentOrigin } from '../http/access.decorators';
import { CodeBody, LogInBody } from './login.dto';
import { LoginCookies } from './login-cookies';

/**
 * Logs people in and out, and sends links for new passwords. The services limit wrong guesses for each login
 * and for each client address.
 */
@Controller('api')
export class LoginController {
  constructor(
    private readonly logins: LoginsService,
    private readonly passwords: PasswordsService,
    private readonly cookies: LoginCookies,
  ) {}

  @Post('login')
  @HttpCode(200)
  @Public()
  async logIn(
    @Body() body: LogInBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentOrigin() origin: Origin,
  ): Promise<LoginResponse> {
    const browserToken = this.cookies.browserTokenOf(request);
    return this.cookies.keep(response, await this.logins.logIn({ ...body, browserToken }, origin));
  }

  @Post('login/second-factor')
  @HttpCode(200)
  @Public()
  async confirmSecondFactor(
    @Body() { code }: CodeBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentOrigin() origin: Origin,
  ): Promise<Done> {
    const pendingToken = this.cookies.pendingTokenOf(request);
    const browserToken = this.cookies.browserTokenOf(request);
    const input = { pendingToken, code, browserToken };
    return this.cookies.keepSession(response, await this.logins.confirmSecondFactor(input, origin));
  }

  @Post('logout')
  @HttpCode(204)
  async logOut(
    @CurrentHolder() holder: SessionHolder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.logins.logOut(holder);
    this.cookies.forget(response);
  }

  /** Mails a link for a new password if a login has the address. If none has, the response is the same. */
  @Post('password-resets')
  @HttpCode(202)
  @Public()
  requestReset(@Body() body: RequestPasswordReset, @CurrentOrigin() origin: Origin): Promise<void> {
    return this.passwords.requestReset(body, origin);
  }
}
