import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { AuthenticatedRequest } from '../http/access.decorators';
import { AppError } from '../common/app-error';

/** Refuses the keys of a suspended workspace. */
@Injectable()
export class SuspensionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { principal } = context.switchToHttp().getRequest<Partial<AuthenticatedRequest>>();
    if (principal?.tenant.isSuspended) throw AppError.workspaceSuspended();
    return true;
  }
}
