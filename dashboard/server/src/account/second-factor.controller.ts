import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import {
  BeginSecondFactor,
  type Caller,
  ConfirmNewSecondFactor,
  type NewSecondFactor,
  PasswordAndCode,
  type RecoveryCodes,
  SecondFactorsService,
} from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentCaller } from '../http/access.decorators';
import { LoginCookies } from '../login/login-cookies';

/** Each change ends the person's other sessions, and gives this one a new token. */
@Controller('api/account')
export class SecondFactorController {
  constructor(
    private readonly factors: SecondFactorsService,
    private readonly cookies: LoginCookies,
  ) {}

  @Post('second-factor')
  @HttpCode(200)
  begin(@Body() body: BeginSecondFactor, @CurrentCaller() caller: Caller): Promise<NewSecondFactor> {
    return this.factors.begin(caller, body);
  }

  @Post('second-factor/confirm')
  @HttpCode(200)
  async confirm(
    @Body() body: ConfirmNewSecondFactor,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodes> {
    return this.cookies.keepCodes(response, await this.factors.confirm(caller, body));
  }

  @Post('second-factor/turn-off')
  @HttpCode(204)
  async turnOff(
    @Body() body: PasswordAndCode,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.cookies.keepRenewed(response, await this.factors.turnOff(caller, body));
  }

  @Post('recovery-codes')
  @HttpCode(200)
  async renewRecoveryCodes(
    @Body() body: PasswordAndCode,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodes> {
    return this.cookies.keepCodes(response, await this.factors.newRecoveryCodes(caller, body));
  }
}
