import { Module } from '@nestjs/common';
import { ConversationsController } from './conversations.controller';
import { InboxViews } from './inbox-views';
import { MessagesController } from './messages.controller';

@Module({ controllers: [ConversationsController, MessagesController], providers: [InboxViews] })
export class InboxModule {}
