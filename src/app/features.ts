import { AlertsModule } from '../alerts/alerts.module';
import { AttachmentsModule } from '../attachments/attachments.module';
import { AuditModule } from '../audit/audit.module';
import { AuthModule } from '../auth/auth.module';
import { ChannelsModule } from '../channels/channels.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { InboxModule } from '../inbox/inbox.module';
import { LoginsModule } from '../logins/logins.module';
import { MessagesModule } from '../messages/messages.module';
import { MessageSearchModule } from '../message-search/message-search.module';
import { AlertMailsModule } from '../notices/alerts/alert-mails.module';
import { NoticesModule } from '../notices/notices.module';
import { PushModule } from '../notices/push/push.module';
import { OutboxModule } from '../outbox/outbox.module';
import { ParkedEventsModule } from '../operations/parked-events/parked-events.module';
import { PrivacyModule } from '../privacy/privacy.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { SecretsModule } from '../secrets/secrets.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';

/** Modules with the services of all features. They also register the features' database tables. */
export const SERVICES = [
  WorkspacesModule,
  AlertsModule,
  AuthModule,
  LoginsModule,
  WebhooksModule,
  ChannelsModule,
  ContactsModule,
  ConversationsModule,
  AttachmentsModule,
  MessagesModule,
  InboxModule,
  NoticesModule,
  PushModule,
  AlertMailsModule,
  MessageSearchModule,
  PrivacyModule,
  AuditModule,
  SecretsModule,
  OutboxModule,
  ParkedEventsModule,
  RateLimitModule,
];
