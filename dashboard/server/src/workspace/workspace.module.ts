import { Module } from '@nestjs/common';
import { AgentsController } from './agents.controller';
import { FirstPages } from './first-pages';
import { InvitationsController } from './invitations.controller';
import { NewAgents } from './new-agents';
import { ParkedEventsController } from './parked-events.controller';
import { SecondFactorDemandController } from './second-factor-demand.controller';
import { WorkspaceController } from './workspace.controller';
import { WorkspaceOverviews } from './workspace-overviews';
import { WorkspaceSettingsChanges } from './workspace-settings-changes';

@Module({
  controllers: [
    WorkspaceController,
    SecondFactorDemandController,
    AgentsController,
    InvitationsController,
    ParkedEventsController,
  ],
  providers: [FirstPages, WorkspaceOverviews, WorkspaceSettingsChanges, NewAgents],
})
export class WorkspaceModule {}
