import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { WorkspacesModule } from '../workspaces.module';
import { TenantRowsRepository } from './tenant-rows.repository';
import { WorkspaceDeleter } from './workspace-deleter';

/** The worker's side of deletions. */
@Module({
  imports: [WorkspacesModule, AuditModule],
  providers: [TenantRowsRepository, WorkspaceDeleter],
  exports: [WorkspaceDeleter],
})
export class WorkspaceDeletionWorkerModule {}
