import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { clientNetworkOf, makeReason, RateLimiter } from 'conversation-messaging-service/http';
import type { Response } from 'express';
import type { SessionRequest } from './access.decorators';

const LIMIT = 'limit';

interface Limit {
  /** Name of the routes that are counted together. */
  name: string;
  /** Requests a minute by one person, or by one address before the login. */
  max: number;
}

/**
 * Limits a route that costs more than reading a few rows, such as one that sends mail or calls another
 * server.
 */
export const LimitedTo = (max: number, name: string) => SetMetadata(LIMIT, { max, name } satisfies Limit);

@Injectable()
export class LimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit = this.reflector.get<Limit | undefined>(LIMIT, context.getHandler());
    if (!limit) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<SessionRequest & { opened?: SessionRequest['opened'] }>();
    const caller = request.opened?.person.id ?? clientNetworkOf(request);
    const { max, name } = limit;
    const excess = makeReason('too_many_requests', { max });
    await this.limiter.countRequest(
      `dashboard:${name}:${caller}`,
      { max, excess },
      http.getResponse<Response>(),
    );
    return true;
  }
}
