import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import {
  BeginSecondFactor,
  ConfirmNewSecondFactor,
  type NewSecondFactor,
  PasswordAndCode,
  type RecoveryCodes,
  SecondFactorsService,
  type SessionHolder,
} from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentHolder } from '../http/access.decorators';
import { LoginCookies } from '../login/login-cookies';

/**
 * Changes the second factor of the person who is logged in. Each change ends all other sessions of the
 * person, and the session that makes the change receives a new token.
 */
@Controller('api/account')
export class SecondFactorController {
  constructor(
    private readonly factors: SecondFactorsService,
    private readonly cookies: LoginCookies,
  ) {}

  @Post('second-factor')
  @HttpCode(200)
  create(@Body() body: BeginSecondFactor, @CurrentHolder() holder: SessionHolder): Promise<NewSecondFactor> {
    return this.factors.begin(holder, body);
  }

  @Post('second-factor/confirm')
  @HttpCode(200)
  async confirm(
    @Body() body: ConfirmNewSecondFactor,
    @CurrentHolder() holder: SessionHolder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodes> {
    return this.cookies.keepCodes(response, await this.factors.confirm(holder, body));
  }

  @Post('second-factor/turn-off')
  @HttpCode(204)
  async turnOff(
    @Body() body: PasswordAndCode,
    @CurrentHolder() holder: SessionHolder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.cookies.keepRenewed(response, await this.factors.turnOff(holder, body));
  }

  @Post('recovery-codes')
  @HttpCode(200)
  async renewRecoveryCodes(
    @Body() body: PasswordAndCode,
    @CurrentHolder() holder: SessionHolder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodes> {
    return this.cookies.keepCodes(response, await this.factors.renewRecoveryCodes(holder, body));
  }
}
