import { Module } from '@nestjs/common';
import { AuthApiModule } from './auth/auth.module';
import { HooksModule } from './channels/inbound/hooks.module';
import { WidgetModule } from './channels/widget/widget.module';
import { ContactsApiModule } from './contacts/contacts.module';
import { ConversationsApiModule } from './conversations/conversations.module';
import { MessagesApiModule } from './messages/messages.module';
import { WidgetFilesModule } from './widget-files/widget-files.module';

/** What serves HTTP: the REST API below `/api/v1`, the providers' hooks and the widget beside it. */
@Module({
  imports: [
    AuthApiModule,
    ContactsApiModule,
    ConversationsApiModule,
    MessagesApiModule,
    HooksModule,
    WidgetModule,
    WidgetFilesModule,
  ],
})
export class ApiModule {}
