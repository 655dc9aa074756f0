import { Controller, Param, Req, Res, Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../common/access.decorators';
import { Channel } from '../../common/channel';
import { HookEvents, HookHandshake } from './hook.decorators';
import { HooksService } from './hooks.service';

const SIGNATURE = {
  name: 'X-Hub-Signature-256',
  description: "`sha256=`, and the HMAC-SHA256 of the raw body, keyed with the app's secret, in hex.",
};

/** Meta calls the hooks of its three channels in the same way. */
function metaHookController(channel: Channel, provider: string): Type<object> {
  @ApiTags('Channels')
  @Public()
  @Controller(`channels/${channel.toLowerCase()}`)
  class MetaHookController {
    constructor(private readonly hooks: HooksService) {}

    @HookHandshake()
    handshake(
      @Param('hookKey') hookKey: string,
      @Req() request: Request,
      @Res({ passthrough: true }) response: Response,
    ): Promise<string> {
      return this.hooks.handshake({ channel, hookKey, request, response });
    }

    @HookEvents(provider, SIGNATURE)
    receive(
      @Param('hookKey') hookKey: string,
      @Req() request: Request,
      @Res({ passthrough: true }) response: Response,
    ): Promise<void> {
      return this.hooks.receive({ channel, hookKey, request, response });
    }
  }
  // What the documentation names its operations after.
  Object.defineProperty(MetaHookController, 'name', { value: `${provider}HookController` });
  return MetaHookController;
}

export const WhatsAppHookController = metaHookController('WHATSAPP', 'WhatsApp');
export const MessengerHookController = metaHookController('MESSENGER', 'Messenger');
export const InstagramHookController = metaHookController('INSTAGRAM', 'Instagram');
