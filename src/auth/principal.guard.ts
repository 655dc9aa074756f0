import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Scope } from '../access/permissions';
import { AppError } from '../common/app-error';
import { AuthenticatedRequest, isPublic, SCOPES_ALLOWED } from '../http/access.decorators';
import { isSafe } from '../http/safe-methods';
import { isTrialExpired } from '../workspaces/plan-policy';

/**
 * Refuses all requests of a suspended workspace, requests whose key has none of the route's scopes, and
 * changes after the end of the trial. A route that declares no scopes is closed to all keys.
 */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (isPublic(this.reflector, context)) return true;
    const request = context.switchToHttp().getRequest<Request & AuthenticatedRequest>();
    const { scopes, tenant } = request.principal;
    if (tenant.isSuspended) throw AppError.workspaceSuspended();
    const allowed = this.reflector.getAllAndOverride<Scope[] | undefined>(SCOPES_ALLOWED, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!allowed) throw new AppError('FORBIDDEN', 'This path is not open to API keys.');
    if (allowed.length > 0 && !allowed.some((scope) => scopes.includes(scope)))
      throw new AppError('FORBIDDEN', `The API key lacks the scope ${allowed.join(' or ')}.`);
    if (isSafe(request) || !isTrialExpired(tenant, new Date())) return true;
    throw new AppError(
      'TRIAL_EXPIRED',
      'The trial has ended: the API is read-only until the workspace is upgraded.',
    );
  }
}
