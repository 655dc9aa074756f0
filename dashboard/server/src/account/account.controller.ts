import { Body, Controller, Delete, Get, Header, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import type { Page } from 'conversation-messaging-service';
import {
  ChangePassword,
  LoginsService,
  PasswordsService,
  PeopleService,
  type Person,
  type PersonExport,
  type SessionHolder,
  UpdatePerson,
  type LoginSession,
} from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import type { LoginSessionResponse } from '../api';
import { CurrentHolder } from '../http/access.decorators';
import { toList } from '../http/list';
import { LoginCookies } from '../login/login-cookies';

/** Reads and changes the login of the person who is logged in. */
@Controller('api/account')
export class AccountController {
  constructor(
    private readonly people: PeopleService,
    private readonly passwords: PasswordsService,
    private readonly logins: LoginsService,
    private readonly cookies: LoginCookies,
  ) {}

  @Patch()
  update(@Body() body: UpdatePerson, @CurrentHolder() holder: SessionHolder): Promise<Person> {
    return this.people.update(holder, body);
  }

  @Get('export')
  @Header('Content-Disposition', 'attachment; filename="account.json"')
  export(@CurrentHolder() holder: SessionHolder): Promise<PersonExport> {
    return this.people.export(holder);
  }

  @Post('password')
  @HttpCode(204)
  async changePassword(
    @Body() body: ChangePassword,
    @CurrentHolder() holder: SessionHolder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.cookies.keepRenewed(response, await this.passwords.change(holder, body));
  }

  @Get('sessions')
  async listSessions(@CurrentHolder() holder: SessionHolder): Promise<Page<LoginSessionResponse>> {
    return toList((await this.logins.listSessions(holder)).map((session) => toLoginSession(session, holder)));
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  revokeSession(@Param('id') id: string, @CurrentHolder() holder: SessionHolder): Promise<void> {
    return this.logins.revokeSession(holder, id);
  }

  @Post('sessions/revoke-others')
  @HttpCode(200)
  revokeOtherSessions(@CurrentHolder() holder: SessionHolder): Promise<{ revoked: number }> {
    return this.logins.revokeOtherSessions(holder);
  }
}

function toLoginSession(session: LoginSession, { sessionId }: SessionHolder): LoginSessionResponse {
  return { ...session, isCurrent: session.id === sessionId };
}
