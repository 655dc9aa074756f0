import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import {
  type Actor,
  ContactArchiveService,
  type ContactErasureSummary,
  ContactErasuresService,
} from 'conversation-messaging-service';
import type { Response } from 'express';
import type { RunningErasure } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { Downloads } from '../http/downloads';
import { LimitedTo } from '../http/limit.guard';

/** Exports that a person can start in a minute: few, because each reads all messages of a contact. */
const EXPORTS_A_MINUTE = 20;

/**
 * Erases and exports contacts, even in a read-only workspace, because a customer's legal rights do not depend
 * on the workspace's plan.
 */
@Controller('api/workspaces/:workspaceId/contacts/:id')
export class ContactErasuresController {
  constructor(
    private readonly erasures: ContactErasuresService,
    private readonly archives: ContactArchiveService,
    private readonly downloads: Downloads,
  ) {}

  @Get('erasure')
  async getErasure(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RunningErasure> {
    return { running: await this.erasures.getRunning(workspaceId, id, actor) };
  }

  @Post('erasure')
  @HttpCode(200)
  erase(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<ContactErasureSummary> {
    return this.erasures.start(workspaceId, id, actor);
  }

  @Get('export')
  @LimitedTo(EXPORTS_A_MINUTE, 'contact-export')
  export(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const archive = this.archives.export(workspaceId, id, actor);
    const file = { name: `contact-${id}.zip`, type: 'application/zip' };
    return this.downloads.sendBytes(workspaceId, archive, file, response);
  }
}
