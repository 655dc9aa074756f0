import { Module } from '@nestjs/common';
import { ConversationsController } from './conversations.controller';
import { InboxStreamController } from './inbox-stream.controller';
import { InboxStreams } from './inbox-streams';
import { InboxViews } from './inbox-views';
import { MessagesController } from './messages.controller';
import { NotesController } from './notes.controller';
import { PresenceController } from './presence.controller';
import { PresenceNotices } from './presence-notices';
import { ReadMarksController } from './read-marks.controller';
import { ReplyChecksController } from './reply-checks.controller';

@Module({
  controllers: [
    ReadMarksController,
    ConversationsController,
    MessagesController,
    NotesController,
    ReplyChecksController,
    InboxStreamController,
    PresenceController,
  ],
  providers: [InboxViews, InboxStreams, PresenceNotices],
})
export class InboxModule {}
