import { Controller, Get, Param, Res } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentSession } from '../http/access.decorators';
import { InboxStreams } from './inbox-streams';

@Controller('api/workspaces/:workspaceId/inbox')
export class InboxStreamController {
  constructor(private readonly streams: InboxStreams) {}

  /**
   * Streams server-sent events: `ready`, `heartbeat` every 15 s, and `end`. All other events carry ids, or
   * null if any row may have changed. `changed` carries ids of conversations and of the events that changed
   * them, `contacts` ids of contacts. `presence` carries ids of conversations that a colleague or visitor has
   * opened, left or begun to write in. `read`, `unread` and `handed-over` carry ids of conversations whose
   * read mark has changed.
   */
  @Get('stream')
  open(
    @Param('workspaceId') workspaceId: string,
    @CurrentSession() opened: OpenedSession,
    @Res() response: Response,
  ): Promise<void> {
    return this.streams.open(opened, workspaceId, response);
  }
}
