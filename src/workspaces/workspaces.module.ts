import { Module } from '@nestjs/common';
import { AlertsModule } from '../alerts/alerts.module';
import { AuditModule } from '../audit/audit.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RunningClaimsModule } from '../queue/claims/running-claims';
import { AgentWorks } from './agent-works';
import { AgentsController } from './agents.controller';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { WorkspaceDeletionsRepository } from './workspace-deletions.repository';
import { WORKSPACE_TABLES } from './workspace-tables';
import { WorkspacesRepository } from './workspaces.repository';
import { WorkspacesService } from './workspaces.service';

const PROVIDERS = [
  WorkspacesRepository,
  WorkspaceDeletionsRepository,
  WorkspacesService,
  AgentsRepository,
  AgentsService,
  AgentWorks,
];

@Module({
  imports: [AlertsModule, AuditModule, RunningClaimsModule],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class WorkspacesModule {
  constructor(tables: TableRegistry) {
    tables.register(...WORKSPACE_TABLES);
  }
}

@Module({ imports: [WorkspacesModule], controllers: [AgentsController] })
export class AgentsApiModule {}
