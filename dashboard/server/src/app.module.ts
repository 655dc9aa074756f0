import { DynamicModule, Module } from '@nestjs/common';
import { MessagingModule } from 'conversation-messaging-service';
import { HealthApiModule } from 'conversation-messaging-service/http';
import { AccountController } from './account/account.controller';
import { PushController } from './account/push.controller';
import { NoticeChoicesController } from './account/notice-choices.controller';
import { SecondFactorController } from './account/second-factor.controller';
import { SessionController } from './account/session.controller';
import { ApiKeysController } from './api-keys/api-keys.controller';
import { AttachmentsModule } from './attachments/attachments.module';
import { AlertMailsController } from './alerts/alert-mails.controller';
import { AlertsController } from './alerts/alerts.controller';
import { AuditController } from './audit/audit.controller';
import { ChannelsController } from './channels/channels.controller';
import { WidgetPreviewController } from './channels/widget-preview.controller';
import { DashboardConfig } from './config/dashboard-config';
import { ContactErasuresController } from './contacts/contact-erasures.controller';
import { ContactsController } from './contacts/contacts.controller';
import { DeliveriesController } from './deliveries/deliveries.controller';
import { RecoveriesController } from './deliveries/recoveries.controller';
import { DashboardHttpModule } from './http/http.module';
import { InboxModule } from './inbox/inbox.module';
import { LinksController } from './login/links.controller';
import { LoginController } from './login/login.controller';
import { LoginCookies } from './login/login-cookies';
import { SavedRepliesController } from './saved-replies/saved-replies.controller';
import { EventTypesController } from './webhooks/event-types.controller';
import { WebhookEndpointViews } from './webhooks/webhook-endpoint-views';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller';
import { WorkspaceModule } from './workspace/workspace.module';

@Module({
  imports: [DashboardHttpModule, HealthApiModule, WorkspaceModule, InboxModule, AttachmentsModule],
  controllers: [
    LoginController,
    LinksController,
    SessionController,
    AccountController,
    NoticeChoicesController,
    SecondFactorController,
    PushController,
    SavedRepliesController,
    ContactsController,
    ContactErasuresController,
    ApiKeysController,
    WebhookEndpointsController,
    EventTypesController,
    DeliveriesController,
    RecoveriesController,
    ChannelsController,
    WidgetPreviewController,
    AlertsController,
    AlertMailsController,
    AuditController,
  ],
  providers: [LoginCookies, WebhookEndpointViews],
})
export class DashboardModule {
  /** @throws ConfigError naming each fault in the service's part of the configuration */
  static forRoot(config: DashboardConfig): DynamicModule {
    return {
      module: DashboardModule,
      global: true,
      // Global, because the controllers in all folders inject services of this module.
      imports: [{ ...MessagingModule.forRoot(config.messaging), global: true }],
      providers: [{ provide: DashboardConfig, useValue: config }],
      exports: [DashboardConfig],
    };
  }
}
