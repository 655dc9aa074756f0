import { Module } from '@nestjs/common';
import { ConversationsController } from './conversations.controller';
import { InboxStreamController } from './inbox-stream.controller';
import { InboxStreams } from './inbox-streams';
import { InboxViews } from './inbox-views';
import { MessagesController } from './messages.controller';

@Module({
  controllers: [ConversationsController, MessagesController, InboxStreamController],
  providers: [InboxViews, InboxStreams],
})
export class InboxModule {}
