import { Body, Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import {
  PushAddressesService,
  type PushState,
  type SessionHolder,
  SetPushAddress,
  TestPush,
} from 'conversation-messaging-service/logins';
import { CurrentHolder } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';

/** Low limit, because each test calls the server of a push service. */
const TESTS = 5;

/** Turns notices in the browser of the session on and off. */
@Controller('api/account/push')
export class PushController {
  constructor(private readonly addresses: PushAddressesService) {}

  @Get()
  getState(@CurrentHolder() holder: SessionHolder): Promise<PushState> {
    return this.addresses.getState(holder);
  }

  @Put()
  @HttpCode(204)
  set(@Body() body: SetPushAddress, @CurrentHolder() holder: SessionHolder): Promise<void> {
    return this.addresses.set(holder, body);
  }

  @Delete()
  @HttpCode(204)
  delete(@CurrentHolder() holder: SessionHolder): Promise<void> {
    return this.addresses.delete(holder);
  }

  @Post('test')
  @HttpCode(200)
  @LimitedTo(TESTS, 'push-tests')
  test(@Body() body: TestPush, @CurrentHolder() holder: SessionHolder): Promise<{ isTaken: boolean }> {
    return this.addresses.test(holder, body);
  }
}
