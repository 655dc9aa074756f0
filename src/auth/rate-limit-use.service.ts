import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { isId } from '../common/ids';
import { Actor } from '../access/principal';
import { Database } from '../database/database';
import { RateLimiter } from '../http/limits/rate-limiter';
import { RATE_LIMITED_PATHS, rateKeyOf } from './rate-limit-paths';

/** Requests of a workspace to one path in the present minute. */
export interface RateLimitUse {
  /** Template of the path, such as `/api/v1/conversations/:id`. */
  path: string;
  /** Number of requests with any key of the workspace, including refused requests. */
  used: number;
  endsInSeconds: number;
}

@Injectable()
export class RateLimitUseService {
  constructor(
    private readonly database: Database,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Lists the paths that the workspace has called in the present minute, the busiest first.
   * @returns null while Redis is down, because each process then counts for itself
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<RateLimitUse[] | null> {
    await requireReadPermission(this.database, tenantId, actor, 'workspace.read');
    if (!isId(tenantId)) return [];
    const windows = await Promise.all(
      RATE_LIMITED_PATHS.map((path) => this.limiter.read(rateKeyOf(tenantId, path))),
    );
    if (windows.includes(null)) return null;
    return windows
      .map((window, index) => ({ path: RATE_LIMITED_PATHS[index]!, ...window! }))
      .filter(({ used }) => used > 0)
      .sort((a, b) => b.used - a.used);
  }
}
