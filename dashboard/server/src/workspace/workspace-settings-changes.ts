import { Injectable } from '@nestjs/common';
import { type Actor, WorkspacesService, type Workspace } from 'conversation-messaging-service';
import { PasswordsService, type SessionHolder } from 'conversation-messaging-service/logins';
import type { WorkspaceSettings } from '../api';
import type { UpdateWorkspaceSettings } from './workspace.dto';

/** Changes a workspace's settings. Requires the person's password if messages will be erased. */
@Injectable()
export class WorkspaceSettingsChanges {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly passwords: PasswordsService,
  ) {}

  async update(
    workspaceId: string,
    { messageRetentionDays, password = '' }: UpdateWorkspaceSettings,
    holder: SessionHolder,
    actor: Actor,
  ): Promise<WorkspaceSettings> {
    if (typeof messageRetentionDays === 'number') await this.passwords.confirm(holder, { password });
    return toSettings(await this.workspaces.update(workspaceId, { messageRetentionDays }, actor));
  }
}

function toSettings({ messageRetentionDays }: Workspace): WorkspaceSettings {
  return { messageRetentionDays };
}
