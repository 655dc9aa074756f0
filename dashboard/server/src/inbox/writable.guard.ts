import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AppError, isTrialExpired } from 'conversation-messaging-service';
import type { WorkspaceRequest } from '../http/access.decorators';

/** Leaves the inbox of a suspended workspace, or of one whose trial has ended, to be read only. */
@Injectable()
export class WritableGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, membership } = context.switchToHttp().getRequest<WorkspaceRequest>();
    if (method === 'GET') return true;
    const { workspace } = membership;
    if (workspace.isSuspended) throw AppError.workspaceSuspended();
    if (!isTrialExpired(workspace, new Date())) return true;
    throw AppError.because('TRIAL_EXPIRED', 'trial_expired');
  }
}
