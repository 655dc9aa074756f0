import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/database.module';
import { AgentEntity } from './agent.entity';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { WorkspaceEntity } from './workspace.entity';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

@Module({
  imports: [DatabaseModule.forEntities([WorkspaceEntity, AgentEntity]), AuditModule],
  providers: [WorkspacesRepository, WorkspacesService, AgentsRepository, AgentsService],
  exports: [WorkspacesRepository, WorkspacesService, AgentsRepository, AgentsService],
})
export class WorkspacesModule {}
