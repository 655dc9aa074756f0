import { Module } from '@nestjs/common';
import { DatabaseRoleCheck } from './database-role-check';
import { HealthController } from './health.controller';
import { HealthService } from './health.service';

@Module({ providers: [HealthService, DatabaseRoleCheck], exports: [HealthService] })
export class HealthModule {}

@Module({ imports: [HealthModule], controllers: [HealthController] })
export class HealthApiModule {}
