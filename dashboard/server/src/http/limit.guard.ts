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
/** Limit of the changes that a person makes in a minute, on routes without a limit of their own. */
export const CHANGES_OF_PERSON = 120;
/**
 * Number of a person's changes in a minute that do not count for the workspace. A person who makes no more is
 * never held up by colleagues, however many they are.
 */
export const SHARE_OF_PERSON = 30;
/** Limit of the changes in a minute that the people of a workspace make above their own shares. */
export const CHANGES_OF_WORKSPACE = 600;
/** Limit of the requests to routes before the login that a client network makes in a minute. */
export const REQUESTS_BEFORE_LOGIN = 300;

const OF_WORKSPACE: RateLimit = {
  max: CHANGES_OF_WORKSPACE,
  excess: makeReason('too_many_changes', { max: CHANGES_OF_WORKSPACE }),
};

interface Limit {
  /** Name of the routes that are counted together. */
  name: string;
  /** Requests a minute by one person, or by one client network before the login. */
  max: number;
  /** True for a route that writes over a row of the person's own: it does not count for the workspace. */
  isOwnRow: boolean;
}

/**
 * Gives a route a limit of its own: one that costs more than reading a few rows, such as one that sends mail
 * or calls another server, or one that pages call often.
 */
export const LimitedTo = (max: number, name: string, { isOwnRow = false } = {}) =>
  SetMetadata(LIMIT, { max, name, isOwnRow } satisfies Limit);

/**
 * Limits the requests of a person, and the changes in a workspace. Every route that changes something has a
 * limit, so that no person and no workspace fills the database.
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
