import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  clientNetworkOf,
  type IdentifiedRequest,
  isSafe,
  makeReason,
  type RateLimit,
  RateLimiter,
} from 'conversation-messaging-service/http';
import type { WorkspaceRequest } from './access.decorators';

type AnyRequest = IdentifiedRequest & Partial<Pick<WorkspaceRequest, 'opened' | 'membership'>>;

const LIMIT = 'limit';
/** Changes that a person can make in a minute, in total, on the routes without a limit of their own. */
export const CHANGES_OF_PERSON = 120;
/**
 * Number of each person's changes in a minute that do not count towards the limit of the workspace, so that
 * colleagues can't use them up. Applies to routes without a limit of their own.
 */
export const SHARE_OF_PERSON = 30;
/** Changes that a workspace's people can make in a minute beyond the first `SHARE_OF_PERSON` of each. */
export const CHANGES_OF_WORKSPACE = 600;
/** POST requests without a session that a client network can make in a minute on routes without own limit. */
export const REQUESTS_BEFORE_LOGIN = 300;

const OF_WORKSPACE: RateLimit = {
  max: CHANGES_OF_WORKSPACE,
  excess: makeReason('too_many_changes', { max: CHANGES_OF_WORKSPACE }),
};

interface Limit {
  /** Name of the counter. Routes with equal names are counted together. */
  name: string;
  /** Requests that a person can make in a minute; without a session, requests of a client network. */
  max: number;
  /** Whether the route only overwrites a row of the person. The workspace's limit then ignores the route. */
  isOwnRow: boolean;
}

/**
 * Sets a route's own limit of requests a minute. Routes that send mail or call another server need a low
 * limit. Routes that the pages call often need a high one.
 */
export const LimitedTo = (max: number, name: string, { isOwnRow = false } = {}) =>
  SetMetadata(LIMIT, { max, name, isOwnRow } satisfies Limit);

/**
 * Limits the requests of a person and the changes in a workspace. Every route that changes something has a
 * limit, so that no person and no workspace can fill the database.
 */
@Injectable()
export class LimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AnyRequest>();
    const isChange = !isSafe(request);
    const own = this.reflector.get<Limit | undefined>(LIMIT, context.getHandler());
    const limit = own ?? (isChange ? defaultOf(request) : undefined);
    if (!limit) return true;
    const { max, name, isOwnRow } = limit;
    const caller = request.opened?.person.id ?? clientNetworkOf(request);
    const excess = makeReason('too_many_requests', { max });
    const count = await this.limiter.countCall(`dashboard:${name}:${caller}`, { max, excess });
    const workspace = request.membership?.workspace;
    const isInShare = isOwnRow || (!own && count <= SHARE_OF_PERSON);
    if (workspace && isChange && !isInShare)
      await this.limiter.countCall(`dashboard:changes:${workspace.id}`, OF_WORKSPACE);
    return true;
  }
}

function defaultOf({ opened }: AnyRequest): Limit {
  if (!opened) return { name: 'before-login', max: REQUESTS_BEFORE_LOGIN, isOwnRow: false };
  return { name: 'changes', max: CHANGES_OF_PERSON, isOwnRow: false };
}
