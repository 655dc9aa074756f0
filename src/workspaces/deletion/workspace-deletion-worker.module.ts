import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { WorkspacesModule } from '../workspaces.module';
import { WorkspaceDeleter } from './workspace-deleter';
import { TenantRows } from './tenant-rows';

/** Runs the deletions of workspaces in a worker. */
@Module({
  imports: [WorkspacesModule, AuditModule],
  providers: [WorkspaceDeleter, TenantRows],
  exports: [WorkspaceDeleter],
})
export class WorkspaceDeletionWorkerModule {}
