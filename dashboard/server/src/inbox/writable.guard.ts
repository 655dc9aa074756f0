import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AppError, isTrialExpired } from 'conversation-messaging-service';
import { isSafe } from 'conversation-messaging-service/http';
import type { WorkspaceRequest } from '../http/access.decorators';

/** Refuses changes in the inbox of a workspace that is suspended or whose trial has ended. Reads pass. */
@Injectable()
export class WritableGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<WorkspaceRequest>();
    if (isSafe(request)) return true;
    const { workspace } = request.membership;
    if (workspace.isSuspended) throw AppError.workspaceSuspended();
    if (!isTrialExpired(workspace, new Date())) return true;
    throw AppError.because('TRIAL_EXPIRED', 'trial_expired');
  }
}
