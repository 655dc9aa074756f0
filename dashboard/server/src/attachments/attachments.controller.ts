import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { type Actor, AttachmentContents, AttachmentsService } from 'conversation-messaging-service';
import { HasOwnBudget } from 'conversation-messaging-service/http';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import { CurrentActor, CurrentSession } from '../http/access.decorators';
import { AttachmentContentQuery } from './attachment.dto';
import { AttachmentLinks } from './attachment-links';

@Controller('api/workspaces/:workspaceId/attachments')
export class AttachmentsController {
  constructor(
    private readonly attachments: AttachmentsService,
    private readonly contents: AttachmentContents,
    private readonly links: AttachmentLinks,
  ) {}

  /** Sends the bytes of an attachment, or redirects to them if attachments have an origin of their own. */
  @Get(':id/content')
  @HasOwnBudget(() => true)
  async sendContent(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() { variant, save }: AttachmentContentQuery,
    @CurrentSession() { session }: OpenedSession,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const attachment = await this.attachments.require(workspaceId, id, actor);
    const isRendition = variant === 'rendition' && attachment.rendition !== null;
    const isSaved = save === 'yes';
    const linked = { sessionId: session.id, workspaceId, attachmentId: attachment.id, isRendition, isSaved };
    const link = this.links.make(linked);
    if (link !== null) return response.redirect(302, link);
    const sent = isRendition ? 'rendition' : 'original';
    return this.contents.send(attachment, request, response, sent, isSaved);
  }
}
