import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from 'conversation-messaging-service';
import { PUBLIC } from 'conversation-messaging-service/http';
import { LoginsService } from 'conversation-messaging-service/logins';
import type { SessionRequest } from './access.decorators';
import { Cookies } from './cookies';

/**
 * Refuses a request without a valid session, unless the route is public. Attaches the session, its person and
 * the person's workspaces to the request.
 */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly cookies: Cookies,
    private readonly logins: LoginsService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<SessionRequest>();
    const token = this.cookies.read(request, 'session');
    const opened = token === undefined ? null : await this.logins.authenticate(token);
    if (!opened) throw AppError.because('UNAUTHENTICATED', 'log_in');
    request.opened = opened;
    return true;
  }
}
