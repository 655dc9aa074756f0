import { Controller, Get } from '@nestjs/common';
import { AnyScope, CurrentPrincipal } from '../common/access.decorators';
import { type Principal } from '../common/principal';
import { MeResponse, toMe } from './me.response';

@Controller('me')
export class MeController {
  @Get()
  @AnyScope()
  get(@CurrentPrincipal() principal: Principal): MeResponse {
    return toMe(principal);
  }
}
