import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/database.module';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { FailureLimiter } from './failure-limiter';

@Module({
  imports: [DatabaseModule.forEntities([ApiKeyEntity]), WorkspacesModule, AuditModule, RateLimitModule],
  providers: [ApiKeysRepository, ApiKeysService, FailureLimiter],
  exports: [ApiKeysRepository, ApiKeysService, FailureLimiter],
})
export class AuthModule {}
