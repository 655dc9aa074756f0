import { Controller, Get, Param, Res } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentSession } from '../http/access.decorators';
import { InboxStreams } from './inbox-streams';

@Controller('api/workspaces/:workspaceId/inbox')
export class InboxStreamController {
  constructor(private readonly streams: InboxStreams) {}

  /**
   * Server-sent events: `ready`, `changed` with the ids of conversations and of the events of their changes,
   * or null, `presence` with those of conversations in which a colleague has come, gone or begun to write,
   * `contacts` with those of contacts, `read`, `unread` and `handed-over` with those of conversations whose
   * mark has changed, `heartbeat` every 15 s, `end`.
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
