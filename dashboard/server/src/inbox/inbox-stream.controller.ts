import { Controller, Get, Param, Res } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentSession } from '../http/access.decorators';
import { InboxStreams } from './inbox-streams';

@Controller('api/workspaces/:workspaceId/inbox')
export class InboxStreamController {
  constructor(private readonly streams: InboxStreams) {}

  /**
   * Server-sent events: `ready`, `heartbeat` every 15 s, and `end`. `changed` has the ids of conversations
   * and of the events of their changes, or null. `contacts` has ids of contacts. `presence` has the ids of
   * conversations in which a colleague has come, gone or begun to write. `read`, `unread` and `handed-over`
   * have the ids of conversations whose mark has changed.
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
