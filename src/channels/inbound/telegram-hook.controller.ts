import { Controller, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../common/access.decorators';
import { HookEvents } from './hook.decorators';
import { HooksService } from './hooks.service';

@ApiTags('Channels')
@Public()
@Controller('channels/telegram')
export class TelegramHookController {
  constructor(private readonly hooks: HooksService) {}

  @HookEvents('Telegram', {
    name: 'X-Telegram-Bot-Api-Secret-Token',
    description: 'The secret token that was registered with the address.',
  })
  receive(
    @Param('hookKey') hookKey: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    return this.hooks.receive({ channel: 'TELEGRAM', hookKey, request, response });
  }
}
