import { Module } from '@nestjs/common';
import { APP_GUARD, RouterModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { ApiKeyGuard } from './auth/api-key.guard';
import { AuthModule } from './auth/auth.module';
import { MeController } from './auth/me.controller';
import { limitOf, RATE_WINDOW_MS, RateLimitGuard } from './auth/rate-limit.guard';
import { ScopeGuard } from './auth/scope.guard';
import { TrialGuard } from './auth/trial.guard';
import { HooksModule } from './channels/inbound/hooks.module';
import { WidgetModule } from './channels/widget/widget.module';
import { ContactsController } from './contacts/contacts.controller';
import { ContactsModule } from './contacts/contacts.module';
import { ConversationsController } from './conversations/conversations.controller';
import { ConversationsModule } from './conversations/conversations.module';
import { MessagesController } from './messages/messages.controller';
import { MessagesModule } from './messages/messages.module';
import { RateLimitModule } from './rate-limit/rate-limit.module';
import { RateLimitStorage } from './rate-limit/rate-limit.storage';

/**
 * The REST API: its features, its routes, and the guards that every request passes, in this order. Beside it, where the
 * channels' providers call, and the widget on workspaces' pages.
 */
@Module({
  imports: [
    RouterModule.register([{ path: 'api/v1', module: ApiModule }]),
    AuthModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
    HooksModule,
    WidgetModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitModule],
      inject: [RateLimitStorage],
      useFactory: (storage: RateLimitStorage) => ({
        throttlers: [{ limit: limitOf, ttl: RATE_WINDOW_MS }],
        storage,
      }),
    }),
  ],
  controllers: [MeController, ConversationsController, MessagesController, ContactsController],
  providers: [
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
    { provide: APP_GUARD, useClass: TrialGuard },
  ],
})
export class ApiModule {}
