import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { AuthenticatedRequest } from '../http/access.decorators';
import { AppError } from '../common/app-error';
import { isTrialExpired } from '../workspaces/plan-policy';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Makes the API read-only after the trial. */
@Injectable()
export class TrialGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, principal } = context.switchToHttp().getRequest<Partial<AuthenticatedRequest>>();
    if (!principal || READS.has(method!) || !isTrialExpired(principal.tenant, new Date())) return true;
    throw new AppError(
      'TRIAL_EXPIRED',
      'The trial has ended: the API is read-only until the workspace is upgraded.',
    );
  }
}
