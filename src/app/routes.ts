import { AttachmentsApiModule } from '../attachments/attachments.module';
import { AuthApiModule } from '../auth/auth.module';
import { ChannelRoutesModule } from '../channels/channel-routes.module';
import { NewConversationsApiModule } from '../channels/channels.module';
import { ContactsApiModule } from '../contacts/contacts.module';
import { ConversationsApiModule } from '../conversations/conversations.module';
import { MessageSearchApiModule } from '../message-search/message-search.module';
import { MessagesApiModule } from '../messages/messages.module';
import { AlertMailsApiModule } from '../notices/alerts/alert-mails.module';
import { WebhookEndpointsApiModule } from '../webhooks/webhooks.module';
import { ServedFilesModule } from '../http/served-files/served-files.module';
import { AgentsApiModule } from '../workspaces/workspaces.module';

/**
 * Modules that serve HTTP: the REST API below `/api/v1`, the providers' hooks, the widget and the
 * documentation. Only `AppModule` imports them. The CLI and host applications need only the services, and so
 * load no queue.
 */
export const ROUTES = [
  AuthApiModule,
  ContactsApiModule,
  ConversationsApiModule,
  NewConversationsApiModule,
  AttachmentsApiModule,
  MessagesApiModule,
  MessageSearchApiModule,
  AgentsApiModule,
  WebhookEndpointsApiModule,
  ChannelRoutesModule,
  AlertMailsApiModule,
  ServedFilesModule,
];
