import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { ContextReader } from './context-reader';

/** Reads what deliveries tell beside their events. */
@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule, WorkspacesModule],
  providers: [ContextReader],
  exports: [ContextReader],
})
export class ContextModule {}
