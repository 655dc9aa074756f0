import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { type Actor, WorkspacesService } from 'conversation-messaging-service';
import type { Membership } from 'conversation-messaging-service/logins';
import type { FirstPage, WorkspaceOverview, WorkspaceSettings } from '../api';
import { CurrentActor, CurrentMembership } from '../http/access.decorators';
import { FirstPages } from './first-pages';
import { UpdateWorkspaceSettings } from './workspace.dto';
import { WorkspaceOverviews } from './workspace-overviews';
import { toSettings } from './workspace-response';

@Controller('api/workspaces/:workspaceId')
export class WorkspaceController {
  constructor(
    private readonly firstPages: FirstPages,
    private readonly overviews: WorkspaceOverviews,
    private readonly workspaces: WorkspacesService,
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
  async update(
    @Param('workspaceId') workspaceId: string,
    @Body() body: UpdateWorkspaceSettings,
    @CurrentActor() actor: Actor,
  ): Promise<WorkspaceSettings> {
    return toSettings(await this.workspaces.update(workspaceId, body, actor));
  }
}
