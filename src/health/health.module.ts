import { Module } from '@nestjs/common';
import { DatabaseRoleCheck } from './database-role-check';
import { HealthController } from './health.controller';
import { HealthService } from './health.service';

@Module({ controllers: [HealthController], providers: [HealthService, DatabaseRoleCheck] })
export class HealthModule {}
