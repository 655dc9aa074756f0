import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AppError } from 'conversation-messaging-service';
import type { WorkspaceRequest } from './access.decorators';

/** Checks the workspace of the path: a workspace in which the person is no agent is not found. */
@Injectable()
export class WorkspaceGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<WorkspaceRequest>();
    const { workspaceId } = request.params;
    if (workspaceId === undefined) return true;
    const membership = request.opened.memberships.find(({ workspace }) => workspace.id === workspaceId);
    if (!membership) throw AppError.notFound('Workspace');
    request.membership = membership;
    return true;
  }
}
