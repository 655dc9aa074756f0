import { CanActivate, ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AuthenticatedRequest, PUBLIC } from '../common/access.decorators';
import { AppError } from '../common/app-error';
import { RateLimit, RateLimiter } from '../rate-limit/rate-limiter';
import { hashApiKey, isWellFormedApiKey } from './api-key-token';
import { ApiKeysRepository } from './api-keys.repository';

const BEARER = /^Bearer +(.+)$/i;
/** By client address, against guessing. A valid key is never delayed. */
const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused API keys.' };

/** Authenticates each request by its API key and attaches the principal, unless the route is public. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly logger = new Logger(ApiKeyGuard.name);

  constructor(
    private readonly reflector: Reflector,
    private readonly keys: ApiKeysRepository,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const key = keyOf(request);
    const authenticated = isWellFormedApiKey(key) ? await this.keys.authenticate(hashApiKey(key)) : null;
    if (!authenticated) {
      const response = context.switchToHttp().getResponse<Response>();
      await this.limiter.count(`refused:${request.ip ?? 'unknown'}`, REFUSALS, response);
      throw new AppError('UNAUTHENTICATED', 'The API key is malformed, unknown, expired or revoked.');
    }
    request.principal = authenticated.principal;
    if (authenticated.isUseStale) this.markUsed(request);
    return true;
  }

  /** Not awaited: the caller must not wait for this write. */
  private markUsed({ principal }: AuthenticatedRequest): void {
    this.keys
      .markUsed(principal.tenant.id, principal.apiKeyId)
      .catch((error: Error) =>
        this.logger.warn({ err: error }, 'the last use of an API key was not recorded'),
      );
  }
}

/** Reads either header. The same key may stand in both. */
function keyOf({ headersDistinct }: Request): string {
  const bearers = (headersDistinct['authorization'] ?? []).map((value) => BEARER.exec(value)?.[1] ?? '');
  const keys = new Set([...bearers, ...(headersDistinct['x-api-key'] ?? [])]);
  const [key] = keys;
  if (key === undefined) {
    throw new AppError(
      'UNAUTHENTICATED',
      'Send an API key as "Authorization: Bearer plk_…" or "x-api-key: plk_…".',
    );
  }
  if (keys.size > 1) throw new AppError('UNAUTHENTICATED', 'The two headers carry different API keys.');
  return key;
}
