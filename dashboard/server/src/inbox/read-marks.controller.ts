import { Body, Controller, Delete, Get, HttpCode, HttpStatus, Param, Put } from '@nestjs/common';
import { type Actor, MarkRead, ReadMarksService, type Unread } from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';

/** Read marks that a person can set in a minute. A page sets one for each message that it shows. */
const MAX_MARKS = 240;

/** Reads and sets the person's read marks, even in a read-only workspace, because people read there. */
@Controller('api/workspaces/:workspaceId/conversations')
export class ReadMarksController {
  constructor(private readonly readMarks: ReadMarksService) {}

  @Get('unread')
  getUnread(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<Unread> {
    return this.readMarks.getUnread(workspaceId, actor);
  }

  @Put(':id/read-mark')
  @LimitedTo(MAX_MARKS, 'read-marks', { isOwnRow: true })
  @HttpCode(HttpStatus.NO_CONTENT)
  markRead(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: MarkRead,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.readMarks.markRead(workspaceId, id, body, actor);
  }

  /** Marks a conversation as unread until the person reads it again. */
  @Delete(':id/read-mark')
  @LimitedTo(MAX_MARKS, 'read-marks', { isOwnRow: true })
  @HttpCode(HttpStatus.NO_CONTENT)
  markUnread(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.readMarks.markUnread(workspaceId, id, actor);
  }
}
