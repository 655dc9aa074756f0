import { Module } from '@nestjs/common';
import { ConversationsController } from './conversations.controller';
import { DraftsController } from './drafts.controller';
import { InboxNotices } from './inbox-notices';
import { InboxSearchController } from './inbox-search.controller';
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
    InboxSearchController,
    ReadMarksController,
    ConversationsController,
    MessagesController,
    NotesController,
    DraftsController,
    ReplyChecksController,
    InboxStreamController,
    PresenceController,
  ],
  providers: [InboxViews, InboxNotices, InboxStreams, PresenceNotices],
})
export class InboxModule {}
