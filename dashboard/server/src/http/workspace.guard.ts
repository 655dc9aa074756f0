import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AppError } from 'conversation-messaging-service';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { WorkspaceRequest } from './access.decorators';

/**
 * Attaches the person's membership in the path's workspace to the request. Refuses the request if the person
 * is not an agent of the workspace, or lacks the second factor that the workspace demands. Also refuses it if
 * the workspace's database server does not respond.
 */
@Injectable()
export class WorkspaceGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<WorkspaceRequest>();
    const { workspaceId } = request.params;
    if (workspaceId === undefined) return true;
    const membership = request.opened.memberships.find(({ workspace }) => workspace.id === workspaceId);
    if (!membership) throw refusalOf(request.opened, workspaceId);
    request.membership = membership;
    return true;
  }
}

function refusalOf(
  { lockedMemberships, unreachableWorkspaceIds }: OpenedSession,
  workspaceId: unknown,
): AppError {
  if (unreachableWorkspaceIds.some((id) => id === workspaceId)) return AppError.busy();
  const locked = lockedMemberships.find(({ workspace }) => workspace.id === workspaceId);
  if (!locked) return AppError.notFound('Workspace');
  return AppError.because('FORBIDDEN', 'second_factor_demanded', { workspace: locked.workspace.name });
}
