import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthenticatedRequest, PUBLIC, SCOPES_ALLOWED } from '../http/access.decorators';
import { AppError } from '../common/app-error';
import { Scope } from '../access/permissions';

/** Requires one of the route's scopes. A route that declares none is closed. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, targets)) return true;
    const allowed = this.reflector.getAllAndOverride<Scope[] | undefined>(SCOPES_ALLOWED, targets);
    if (!allowed) throw new AppError('FORBIDDEN', 'This path is not open to API keys.');
    const { scopes } = context.switchToHttp().getRequest<AuthenticatedRequest>().principal;
    if (allowed.length === 0 || allowed.some((scope) => scopes.includes(scope))) return true;
    throw new AppError('FORBIDDEN', `The API key lacks the scope ${allowed.join(' or ')}.`);
  }
}
