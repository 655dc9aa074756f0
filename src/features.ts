import { AuditModule } from './audit/audit.module';
import { AuthApiModule, AuthModule } from './auth/auth.module';
import { ChannelsModule } from './channels/channels.module';
import { HooksModule } from './channels/inbound/hooks.module';
import { WidgetModule } from './channels/widget/widget.module';
import { ContactsApiModule, ContactsModule } from './contacts/contacts.module';
import { ConversationsApiModule, ConversationsModule } from './conversations/conversations.module';
import { MessagesApiModule, MessagesModule } from './messages/messages.module';
import { SecretsModule } from './secrets/secrets.module';
import { WebhooksModule } from './webhooks/webhooks.module';
import { WorkspacesModule } from './workspaces/workspaces.module';

/** The services of every feature: MessagingModule exports them to the application that imports it. */
export const SERVICE_MODULES = [
  WorkspacesModule,
  AuthModule,
  WebhooksModule,
  ChannelsModule,
  ContactsModule,
  ConversationsModule,
  MessagesModule,
  AuditModule,
  SecretsModule,
];

/** The routes of every feature: ApiModule serves them. A module of its own each, so that no host gets a route. */
export const ROUTE_MODULES = [
  AuthApiModule,
  ContactsApiModule,
  ConversationsApiModule,
  MessagesApiModule,
  HooksModule,
  WidgetModule,
];
