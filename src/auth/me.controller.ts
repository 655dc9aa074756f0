import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AnyScope, CurrentPrincipal } from '../http/access.decorators';
import { ApiAnswer, ApiErrors } from '../http/api.decorators';
import { NoQuery } from '../http/request.pipe';
import { type Principal } from '../access/principal';
import { MeResponse, toMe } from './me.dto';

@ApiTags('Me')
@Controller('me')
export class MeController {
  @Get()
  @AnyScope()
  @NoQuery()
  @ApiAnswer('Get the API key of the request, with its scopes and workspace', MeResponse)
  @ApiErrors('INVALID_QUERY')
  get(@CurrentPrincipal() principal: Principal): MeResponse {
    return toMe(principal);
  }
}
