import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { AccessModule } from '../access/access.module';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/setup/database.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { RequestBudgetInterceptor } from '../http/limits/request-budget.interceptor';
import { RateLimiter } from '../http/limits/rate-limiter';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { API_KEY_TABLES } from './api-key-tables';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeyGuard } from './api-key.guard';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { MeController } from './me.controller';
import { limitOf, RATE_WINDOW_MS, RateLimitGuard } from './rate-limit.guard';
import { RateLimitUseService } from './rate-limit-use.service';
import { RefusedApiKeys } from './refused-api-keys';
import { ScopeGuard } from './scope.guard';
import { SuspensionGuard } from './suspension.guard';
import { TrialGuard } from './trial.guard';

/** Provides the services for a workspace's API keys and rate limit, for the dashboard and the CLI. */
@Module({
  imports: [
    DatabaseModule.forEntities([ApiKeyEntity]),
    AccessModule,
    AuditModule,
    RateLimitModule,
    WorkspacesModule,
  ],
  providers: [ApiKeysRepository, ApiKeysService, RateLimitUseService],
  exports: [ApiKeysRepository, ApiKeysService, RateLimitUseService],
})
export class AuthModule {
  constructor(tables: TableRegistry) {
    tables.register(...API_KEY_TABLES);
  }
}

/**
 * Provides the guards that every request to the API passes, in this order, and the interceptor that then
 * gives the request a slot.
 */
@Module({
  imports: [
    AuthModule,
    AuditModule,
    RateLimitModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitModule],
      inject: [RateLimiter],
      useFactory: (storage: RateLimiter) => ({
        throttlers: [{ limit: limitOf, ttl: RATE_WINDOW_MS }],
        storage,
      }),
    }),
  ],
  controllers: [MeController],
  providers: [
    RefusedApiKeys,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: SuspensionGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
    { provide: APP_GUARD, useClass: TrialGuard },
    { provide: APP_INTERCEPTOR, useClass: RequestBudgetInterceptor },
  ],
})
export class AuthApiModule {}
