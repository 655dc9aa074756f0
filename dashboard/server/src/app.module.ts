import { DynamicModule, Module } from '@nestjs/common';
import { MessagingModule } from 'conversation-messaging-service';
import { HealthApiModule } from 'conversation-messaging-service/http';
import { AccountModule } from './account/account.module';
import { ApiKeysModule } from './api-keys/api-keys.module';
import { AuditPagesModule } from './audit/audit.module';
import { ChannelsModule } from './channels/channels.module';
import { ContactPagesModule } from './contacts/contacts.module';
import { DashboardConfigModule } from './config/config.module';
import { DashboardConfig } from './config/dashboard-config';
import { DashboardDeliveriesModule } from './deliveries/deliveries.module';
import { DashboardHttpModule } from './http/http.module';
import { InboxModule } from './inbox/inbox.module';
import { LoginModule } from './login/login.module';
import { DashboardSavedRepliesModule } from './saved-replies/saved-replies.module';
import { DashboardWebhooksModule } from './webhooks/webhooks.module';
import { WorkspaceModule } from './workspace/workspace.module';

/** Root module: the service's own module, and a module for each page. */
@Module({})
export class DashboardModule {
  /**
   * Makes the root module.
   * @throws ConfigError naming each fault of the service's part of the configuration
   */
  static forRoot(config: DashboardConfig): DynamicModule {
    return {
      module: DashboardModule,
      imports: [
        DashboardConfigModule.forRoot(config),
        // The module of every page injects services.
        { ...MessagingModule.forRoot(config.messaging), global: true },
        DashboardHttpModule,
        HealthApiModule,
        LoginModule,
        AccountModule,
        WorkspaceModule,
        InboxModule,
        DashboardSavedRepliesModule,
        ContactPagesModule,
        ApiKeysModule,
        DashboardWebhooksModule,
        DashboardDeliveriesModule,
        ChannelsModule,
        AuditPagesModule,
      ],
    };
  }
}
