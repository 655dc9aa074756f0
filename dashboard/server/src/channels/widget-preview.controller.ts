import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { type Actor, ChannelConnectionsService } from 'conversation-messaging-service';
import type { Locale, OpenedSession } from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import { DashboardConfig } from '../config/dashboard-config';
import { CurrentActor, CurrentSession } from '../http/access.decorators';
import { nonceOf } from '../http/security-headers';
import { previewPage, previewPolicy } from './widget-preview';

/** Serves an example page, in the person's language, with the widget as visitors see it. */
@Controller('widget-preview')
export class WidgetPreviewController {
  constructor(
    private readonly channels: ChannelConnectionsService,
    private readonly config: DashboardConfig,
  ) {}

  @Get(':workspaceId/:id')
  async show(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @CurrentSession() { person }: OpenedSession,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const preview = await this.channels.previewWidget(workspaceId, id, actor);
    const nonce = nonceOf(response);
    const preferred: Locale = request.acceptsLanguages('en', 'de') === 'de' ? 'de' : 'en';
    response.type('html').setHeader('Content-Security-Policy', previewPolicy(this.config.publicUrl, nonce));
    return previewPage(preview, nonce, person.locale ?? preferred);
  }
}
