import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import type { Actor } from 'conversation-messaging-service';
import type { Membership, SessionHolder } from 'conversation-messaging-service/logins';
import type { FirstPage, WorkspaceOverview, WorkspaceSettings } from '../api';
import { CurrentActor, CurrentHolder, CurrentMembership } from '../http/access.decorators';
import { FirstPages } from './first-pages';
import { UpdateWorkspaceSettings } from './workspace.dto';
import { WorkspaceOverviews } from './workspace-overviews';
import { WorkspaceSettingsChanges } from './workspace-settings-changes';

@Controller('api/workspaces/:workspaceId')
export class WorkspaceController {
  constructor(
    private readonly firstPages: FirstPages,
    private readonly overviews: WorkspaceOverviews,
    private readonly settings: WorkspaceSettingsChanges,
  ) {}

  @Get('first-page')
  firstPage(@CurrentMembership() membership: Membership, @CurrentActor() actor: Actor): Promise<FirstPage> {
    return this.firstPages.get(membership, actor);
  }

  @Get('overview')
  overview(
    @CurrentMembership() membership: Membership,
    @CurrentActor() actor: Actor,
  ): Promise<WorkspaceOverview> {
    return this.overviews.get(membership, actor);
  }

  @Patch()
  update(
    @Param('workspaceId') workspaceId: string,
    @Body() body: UpdateWorkspaceSettings,
    @CurrentHolder() holder: SessionHolder,
    @CurrentActor() actor: Actor,
  ): Promise<WorkspaceSettings> {
    return this.settings.update(workspaceId, body, holder, actor);
  }
}
