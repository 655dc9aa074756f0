import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/database.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { FailureLimiter } from './failure-limiter';
import { RateLimitStorage } from './rate-limit.storage';

@Module({
  imports: [DatabaseModule.forEntities([ApiKeyEntity]), WorkspacesModule, AuditModule],
  providers: [ApiKeysRepository, ApiKeysService, RateLimitStorage, FailureLimiter],
  exports: [ApiKeysRepository, ApiKeysService, RateLimitStorage, FailureLimiter],
})
export class AuthModule {}
