import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from 'conversation-messaging-service';
import { isSafe } from 'conversation-messaging-service/http';
import type { Request } from 'express';
import { DashboardConfig } from '../config/dashboard-config';

const TAKES_BYTES = 'takes-bytes';
const BYTES = 'application/octet-stream';

/** Marks a PUT route whose body is a file as `application/octet-stream`, which no HTML form can send. */
export const TakesBytes = () => SetMetadata(TAKES_BYTES, true);

/**
 * Refuses a change that another site's page requests, because the browser would send the session cookie with
 * the request. `Sec-Fetch-Site` and `Origin` show which site requests the change, and no page can forge them.
 * The guard accepts only JSON, or bytes where a route takes them, which no HTML form can send.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly config: DashboardConfig,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (isSafe(request)) return true;
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (site !== 'same-origin' && origin !== this.config.appOrigin)
      throw new AppError('FORBIDDEN', `Changes are only taken from the pages at ${this.config.appOrigin}.`);
    const takesBytes = this.reflector.get<true | undefined>(TAKES_BYTES, context.getHandler());
    if (takesBytes && request.headers['content-type'] === BYTES) return true;
    if (!request.is('application/json'))
      throw new AppError('INVALID_BODY', 'A JSON object sent as application/json is required.');
    return true;
  }
}
