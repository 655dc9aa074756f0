import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AuthenticatedRequest } from '../http/access.decorators';
import { isSafe } from '../http/safe-methods';
import { AppError } from '../common/app-error';
import { isTrialExpired } from '../workspaces/plan-policy';

/** Makes the API read-only after the trial. */
@Injectable()
export class TrialGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request & Partial<AuthenticatedRequest>>();
    const { principal } = request;
    if (!principal || isSafe(request) || !isTrialExpired(principal.tenant, new Date())) return true;
    throw new AppError(
      'TRIAL_EXPIRED',
      'The trial has ended: the API is read-only until the workspace is upgraded.',
    );
  }
}
