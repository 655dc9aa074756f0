import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { AppError, AttachmentContents, AttachmentsService } from 'conversation-messaging-service';
import { HasOwnBudget, type IdentifiedRequest, originOf, Public } from 'conversation-messaging-service/http';
import { LoginsService } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { AttachmentLinks } from './attachment-links';

/** Sends attachments by their links, at an origin that gets no cookie. */
@Controller('attachments')
export class LinkedAttachmentsController {
  constructor(
    private readonly links: AttachmentLinks,
    private readonly logins: LoginsService,
    private readonly attachments: AttachmentsService,
    private readonly contents: AttachmentContents,
  ) {}

  @Get(':token')
  @Public()
  @HasOwnBudget(() => true)
  async send(
    @Param('token') token: string,
    @Req() request: IdentifiedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const linked = this.links.read(token);
    if (!linked) throw AppError.notFound('File');
    const { sessionId, workspaceId, attachmentId, isRendition, isSaved } = linked;
    const [opened] = await this.logins.listOpened([sessionId]);
    const membership = opened?.memberships.find(({ workspace }) => workspace.id === workspaceId);
    if (!membership) throw AppError.notFound('File');
    const actor = { type: 'agent' as const, id: membership.agentId, origin: originOf(request) };
    const attachment = await this.attachments.require(workspaceId, attachmentId, actor);
    // Its page is of another origin.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    const variant = isRendition ? 'rendition' : 'original';
    return this.contents.send(attachment, request, response, variant, isSaved);
  }
}
