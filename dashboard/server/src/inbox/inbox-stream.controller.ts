import { Controller, Get, Param, Res } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { CurrentSession } from '../http/access.decorators';
import { InboxStreams } from './inbox-streams';

@Controller('api/workspaces/:workspaceId/inbox')
export class InboxStreamController {
  constructor(private readonly streams: InboxStreams) {}

  /**
   * Opens a stream of server-sent events:
   *
   * - `ready` first, `heartbeat` every 15 s, `end` last.
   * - `changed`: ids of changed conversations, with the ids of the events that changed them; null if any may
   *   have changed.
   * - `contacts`: ids of changed contacts.
   * - `presence`: ids of conversations that a colleague or the visitor has opened, left or begun to write in.
   * - `read`, `unread`, `handed-over`: ids of conversations whose read mark of the person has changed.
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
