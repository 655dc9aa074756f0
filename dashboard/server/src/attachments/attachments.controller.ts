import { Controller, Get, HttpCode, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import {
  type Actor,
  AttachmentContents,
  type AttachmentResponse,
  AttachmentRetriesService,
  AttachmentsService,
} from 'conversation-messaging-service';
import { HasOwnBudget } from 'conversation-messaging-service/http';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import { CurrentActor, CurrentSession } from '../http/access.decorators';
import { WritableGuard } from '../inbox/writable.guard';
import { AttachmentContentQuery } from './attachment.dto';
import { AttachmentLinks } from './attachment-links';

@Controller('api/workspaces/:workspaceId/attachments')
@UseGuards(WritableGuard)
export class AttachmentsController {
  constructor(
    private readonly attachments: AttachmentsService,
    private readonly contents: AttachmentContents,
    private readonly links: AttachmentLinks,
    private readonly retries: AttachmentRetriesService,
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
  /** Has a customer's file fetched from its provider once more. */
  @Post(':id/retry')
  @HttpCode(200)
  retry(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<AttachmentResponse> {
    return this.retries.retry(workspaceId, id, actor);
  }
}
