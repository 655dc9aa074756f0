import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { WorkspacesModule } from '../workspaces.module';
import { WorkspaceDeleter } from './workspace-deleter';
import { TenantRows } from './tenant-rows';

@Module({
  imports: [WorkspacesModule, AuditModule],
  providers: [WorkspaceDeleter, TenantRows],
  exports: [WorkspaceDeleter],
})
export class WorkspaceDeletionWorkerModule {}
