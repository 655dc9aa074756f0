import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { AccessModule } from '../access/access.module';
import { AlertsModule } from '../alerts/alerts.module';
import { AuditModule } from '../audit/audit.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { RequestBudgetGuard } from '../http/limits/request-budget';
import { RateLimiter } from '../http/limits/rate-limiter';
import { TableRegistry } from '../database/tables/table-registry';
import { RunningClaimsModule } from '../queue/claims/running-claims';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { API_KEY_TABLES } from './api-key-tables';
import { ApiKeyGuard } from './api-key.guard';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { MeController } from './me.controller';
import { limitOf, RATE_WINDOW_MS, RateLimitGuard } from './rate-limit.guard';
import { RateLimitUseService } from './rate-limit-use.service';
import { RefusedApiKeys } from './refused-api-keys';
import { PrincipalGuard } from './principal.guard';

@Module({
  imports: [AccessModule, AlertsModule, AuditModule, RateLimitModule, RunningClaimsModule, WorkspacesModule],
  providers: [ApiKeysRepository, ApiKeysService, RateLimitUseService],
  exports: [ApiKeysRepository, ApiKeysService, RateLimitUseService],
})
export class AuthModule {
  constructor(tables: TableRegistry) {
    tables.register(...API_KEY_TABLES);
  }
}

/** Provides the guards of API requests, in the order in which they run, and the limit of requests at once. */
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
    { provide: APP_GUARD, useClass: PrincipalGuard },
    { provide: APP_GUARD, useClass: RequestBudgetGuard },
  ],
})
export class AuthApiModule {}
