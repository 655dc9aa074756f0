import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/setup/database.module';
import { TableRegistry } from '../database/tables/table-registry';
import { AgentEntity } from './agent.entity';
import { AgentsController } from './agents.controller';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { WorkspaceDeletionsRepository } from './workspace-deletions.repository';
import { WORKSPACE_TABLES } from './workspace-tables';
import { WorkspaceEntity } from './workspace.entity';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

@Module({
  imports: [DatabaseModule.forEntities([WorkspaceEntity, AgentEntity]), AuditModule],
  providers: [
    WorkspacesRepository,
    WorkspaceDeletionsRepository,
    WorkspacesService,
    AgentsRepository,
    AgentsService,
  ],
  exports: [
    WorkspacesRepository,
    WorkspaceDeletionsRepository,
    WorkspacesService,
    AgentsRepository,
    AgentsService,
  ],
})
export class WorkspacesModule {
  constructor(tables: TableRegistry) {
    tables.register(...WORKSPACE_TABLES);
  }
}

@Module({ imports: [WorkspacesModule], controllers: [AgentsController] })
export class AgentsApiModule {}
