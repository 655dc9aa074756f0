import type { Workspace } from 'conversation-messaging-service';
import type { WorkspaceSettings } from '../api';

export function toSettings({ messageRetentionDays }: Workspace): WorkspaceSettings {
  return { messageRetentionDays };
}
