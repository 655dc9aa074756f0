import { applyDecorators, Controller, Param, Req, Res, Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../http/access.decorators';
import { Channel, describeChannel, slugOf } from '../../common/channel-descriptors';
import { HOOKED_CHANNELS, HookEvents, HookHandshake } from './hook.decorators';
import { HooksService } from './hooks.service';

export const HOOK_CONTROLLERS = HOOKED_CHANNELS.map(hookController);

function hookController(channel: Channel): Type<object> {
  const { label, hook } = describeChannel(channel);
  const { hasHandshake } = hook!;

  @ApiTags('Channels')
  @Public()
  @Controller(`channels/${slugOf(channel)}`)
  class HookController {
    constructor(private readonly hooks: HooksService) {}

    @applyDecorators(...(hasHandshake ? [HookHandshake()] : []))
    verify(
      @Param('hookKey') hookKey: string,
      @Req() request: Request,
      @Res({ passthrough: true }) response: Response,
    ): Promise<string> {
      return this.hooks.handshake({ channel, hookKey, request, response });
    }

    @HookEvents(label, hook!)
    receive(
      @Param('hookKey') hookKey: string,
      @Req() request: Request,
      @Res({ passthrough: true }) response: Response,
    ): Promise<void> {
      return this.hooks.receive({ channel, hookKey, request, response });
    }
  }
  // NestJS derives the OpenAPI operation ids from the class name.
  Object.defineProperty(HookController, 'name', { value: `${label}HookController` });
  return HookController;
}
