import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import type { Page } from 'conversation-messaging-service';
import {
  type Caller,
  ChangePassword,
  LoginSessionsService,
  PasswordsService,
  PeopleService,
  type Person,
  UpdatePerson,
} from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import type { LoginSessionResponse } from '../api';
import { CurrentCaller } from '../http/access.decorators';
import { toList } from '../http/list';
import { LoginCookies } from '../login/login-cookies';
import { toLoginSession } from './login-session.response';

/** The person's own login. */
@Controller('api/account')
export class AccountController {
  constructor(
    private readonly people: PeopleService,
    private readonly passwords: PasswordsService,
    private readonly sessions: LoginSessionsService,
    private readonly cookies: LoginCookies,
  ) {}

  @Patch()
  update(@Body() body: UpdatePerson, @CurrentCaller() caller: Caller): Promise<Person> {
    return this.people.update(caller, body);
  }

  @Post('password')
  @HttpCode(204)
  async changePassword(
    @Body() body: ChangePassword,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.cookies.keepRenewed(response, await this.passwords.change(caller, body));
  }

  @Get('sessions')
  async listSessions(@CurrentCaller() caller: Caller): Promise<Page<LoginSessionResponse>> {
    return toList((await this.sessions.list(caller)).map((session) => toLoginSession(session, caller)));
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  revokeSession(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    return this.sessions.revoke(caller, id);
  }

  @Post('sessions/revoke-others')
  @HttpCode(200)
  revokeOtherSessions(@CurrentCaller() caller: Caller): Promise<{ revoked: number }> {
    return this.sessions.revokeOthers(caller);
  }
}
