import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/database.module';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { RateLimitStorage } from '../rate-limit/rate-limit.storage';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeyGuard } from './api-key.guard';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { MeController } from './me.controller';
import { limitOf, RATE_WINDOW_MS, RateLimitGuard } from './rate-limit.guard';
import { ScopeGuard } from './scope.guard';
import { TrialGuard } from './trial.guard';

/** API keys as the dashboard manages them. */
@Module({
  imports: [DatabaseModule.forEntities([ApiKeyEntity]), WorkspacesModule, AuditModule],
  providers: [ApiKeysRepository, ApiKeysService],
  exports: [ApiKeysRepository, ApiKeysService],
})
export class AuthModule {}

/** The guards that every request to the API passes, in this order. */
@Module({
  imports: [
    AuthModule,
    RateLimitModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitModule],
      inject: [RateLimitStorage],
      useFactory: (storage: RateLimitStorage) => ({
        throttlers: [{ limit: limitOf, ttl: RATE_WINDOW_MS }],
        storage,
      }),
    }),
  ],
  controllers: [MeController],
  providers: [
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
    { provide: APP_GUARD, useClass: TrialGuard },
  ],
})
export class AuthApiModule {}
