import { CanActivate, ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AuthenticatedRequest, isPublic, originOf } from '../http/access.decorators';
import { AppError } from '../common/app-error';
import { clientNetworkOf } from '../http/connections/client-network';
import { isInNetworks } from '../common/network';
import { Metrics } from '../metrics/metrics';
import { KeyLookup } from '../http/limits/key-lookup';
import { RateLimit, RateLimiter } from '../http/limits/rate-limiter';
import { hasOwnBudget } from '../http/limits/request-budget';
import { WorkBudgets } from '../http/limits/work-budgets';
import { hashApiKey, isWellFormedApiKey } from './api-key-token';
import { ApiKeyOwner, ApiKeysRepository } from './api-keys.repository';
import { RefusedApiKeys } from './refused-api-keys';

const BEARER = /^Bearer(?: +(.+))?$/i;
/** Limit of refused requests a minute from one network. A valid key is accepted even above the limit. */
const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused API keys.' };

/**
 * Authenticates each request by its API key, unless the route is public. Refuses a key whose allowed networks
 * do not include the client's address, and attaches the principal to the request.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly logger = new Logger(ApiKeyGuard.name);
  private readonly lookup: KeyLookup<ApiKeyOwner>;

  constructor(
    private readonly reflector: Reflector,
    private readonly keys: ApiKeysRepository,
    private readonly refused: RefusedApiKeys,
    private readonly limiter: RateLimiter,
    private readonly budgets: WorkBudgets,
    metrics: Metrics,
  ) {
    this.lookup = new KeyLookup('keys', metrics, (hashes) => keys.lookUp(hashes));
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (isPublic(this.reflector, context)) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const key = keyOf(request);
    const hash = isWellFormedApiKey(key) ? hashApiKey(key) : null;
    if (hash) this.refuseEarly(context, hash);
    const authenticated =
      hash && (await this.lookup.find(hash, (owner) => this.keys.authenticate(owner, hash)));
    if (!authenticated) {
      await this.countRefusal(context, hash);
      throw new AppError('UNAUTHENTICATED', 'The API key is malformed, unknown, expired or revoked.');
    }
    const { allowedNetworks } = authenticated;
    if (allowedNetworks && !isInNetworks(request.ip, allowedNetworks)) {
      // A request from a wrong network does not count against the workspace's rate limit, because a thief of
      // the key could use the limit up. The error reveals nothing about the workspace or the key.
      await this.countRefusal(context, hash);
      throw new AppError('FORBIDDEN', 'The API key may not be used from this address.');
    }
    request.principal = authenticated.principal;
    if (authenticated.isUseStale) this.markUsed(request);
    return true;
  }

  /** Refuses a request before it costs a statement, if this process is too busy to serve it in time. */
  private refuseEarly(context: ExecutionContext, hash: Buffer): void {
    const owner = this.lookup.findAccepted(hash);
    if (owner && !hasOwnBudget(this.reflector, context)) this.budgets.requireRoom('requests', owner.tenantId);
  }

  private countRefusal(context: ExecutionContext, hash: Buffer | null): Promise<number> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    this.refused.count(hash, originOf(request));
    return this.limiter.countCall(`refused:${clientNetworkOf(request)}`, REFUSALS);
  }

  private markUsed({ principal }: AuthenticatedRequest): void {
    this.keys
      .markUsed(principal.tenant.id, principal.apiKeyId)
      .catch((error: Error) =>
        this.logger.warn({ err: error }, 'the last use of an API key was not recorded'),
      );
  }
}

/**
 * Reads the key from the `Authorization` or the `X-Api-Key` header; both may contain the same key. Schemes
 * other than Bearer, such as the Basic of a proxy, are ignored.
 */
function keyOf({ headersDistinct }: Request): string {
  const bearers = (headersDistinct['authorization'] ?? [])
    .map((value) => BEARER.exec(value))
    .filter((bearer) => bearer !== null)
    .map(([, key = '']) => key);
  const keys = new Set([...bearers, ...(headersDistinct['x-api-key'] ?? [])]);
  if (keys.size > 1) throw new AppError('UNAUTHENTICATED', 'The two headers carry different API keys.');
  const [key] = keys;
  if (!key) {
    throw new AppError(
      'UNAUTHENTICATED',
      'Send an API key as "Authorization: Bearer plk_…" or "x-api-key: plk_…".',
    );
  }
  return key;
}
