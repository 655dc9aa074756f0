import { ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, ThrottlerRequest } from '@nestjs/throttler';
import type { Response } from 'express';
import { AuthenticatedRequest, isPublic } from '../http/access.decorators';
import { AppError } from '../common/app-error';
import { rateLimitOf } from '../workspaces/plan-policy';
import { rateKeyOf } from './rate-limit-paths';

export const RATE_WINDOW_MS = 60_000;

/** Returns how many requests a minute the request's workspace may make to one path. */
export function limitOf(context: ExecutionContext): number {
  return rateLimitOf(context.switchToHttp().getRequest<AuthenticatedRequest>().principal.tenant);
}

/**
 * Limits the requests that a workspace makes to one path in a minute, with all keys and methods together. The
 * path is the route's template, so that requests for different ids share one limit.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(isPublic(this.reflector, context));
  }

  protected override async handleRequest({ context, limit, ttl }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const key = rateKeyOf(request.principal.tenant.id, pathTemplateOf(request));
    const { totalHits, timeToExpire, isBlocked } = await this.storageService.increment(
      key,
      ttl,
      limit,
      0,
      'default',
    );
    const response = http.getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - totalHits));
    response.setHeader('X-RateLimit-Reset', timeToExpire);
    if (isBlocked)
      throw AppError.rateLimited(`More than ${limit} requests a minute on this path.`, timeToExpire);
    return true;
  }
}

function pathTemplateOf(request: AuthenticatedRequest): string {
  return (request.route as { path: string }).path;
}
