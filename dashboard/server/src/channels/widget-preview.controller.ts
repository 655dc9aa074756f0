import { Controller, Get, Param, Res } from '@nestjs/common';
import { type Actor, AppError, ChannelConnectionsService } from 'conversation-messaging-service';
import type { Response } from 'express';
import { DashboardConfig } from '../config/dashboard-config';
import { CurrentActor } from '../http/access.decorators';
import { previewPage, previewPolicy } from './widget-preview';

/**
 * Serves a page with the widget, as a visitor would see it. The page's origin must be among the widget's
 * allowed ones.
 */
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
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const { snippet } = await this.channels.get(workspaceId, id, actor);
    if (snippet === null) throw AppError.notFound('Widget');
    response.type('html').setHeader('Content-Security-Policy', previewPolicy(this.config.publicUrl));
    return previewPage(snippet);
  }
}
