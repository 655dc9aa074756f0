import { createHash } from 'node:crypto';
import { CallHandler, CanActivate, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { finalize, Observable } from 'rxjs';
import { AppError } from '../../common/app-error';
import { clientNetworkOf } from '../../http/connections/client-network';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { RateLimiter, REFUSALS } from '../../http/limits/rate-limiter';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { ANY_ORIGIN } from '../adapters/widget/widget-settings';
import { ConnectionLoader } from '../connections/connection-loader';
import { PreviewTokens } from '../connections/preview-tokens';
import { Visitor, VisitorRequest, Widget, WidgetRequest } from './visitor';
import { VisitorTokens } from './visitor-tokens';

export const BEARER = /^Bearer +(\S+)$/i;
const PREFLIGHT_SECONDS = '600';

/** Value of the header `Origin` for a page without an origin, such as a sandboxed page. */
const NO_ORIGIN = 'null';

export const TOKEN_OPTIONAL = 'widget:token-optional';

/** Maximum number of requests a minute, counted in Redis. */
export interface WidgetLimit {
  by: 'visitor' | 'address' | 'widget';
  /** Part of the counter's key in Redis. */
  name: string;
  max: number | ((config: Config) => number);
  excess: string;
  /** Reports whether a request counts towards the limit. If undefined, every request counts. */
  counts?: (request: VisitorRequest) => boolean;
}

export const LIMITS = 'widget:limits';

/** Maximum number of known site keys that a process stores in memory. */
const MAX_KNOWN = 10_000;
/**
 * Budget key for all unknown site keys, so that requests with invented keys compete for slots as if they were
 * one widget.
 */
const UNKNOWN = 'unknown';

/**
 * Finds the widget of the path, checks the origin of the calling page, and sets the CORS headers of the
 * response. Acquires a slot of the widget's budget, which WidgetSlotInterceptor releases. On a single
 * database server, the slot is acquired before anything is read.
 */
@Injectable()
export class WidgetGuard implements CanActivate {
  private readonly known = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly connections: ConnectionLoader,
    private readonly limiter: RateLimiter,
    private readonly budgets: WorkBudgets,
    private readonly previewTokens: PreviewTokens,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<WidgetRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.method === 'OPTIONS') return allowPreflight(response);
    const siteKey = request.params['siteKey'] as string;
    const isKnown = this.known.has(siteKey);
    // Counts before the look-up, so that invented keys cannot cause an unlimited number of queries.
    if (!isKnown) await countRefusal(this.limiter, request);
    const load = () => this.connections.loadByHookKey('WIDGET', siteKey);
    // On Citus, this read may wait for a node that hangs, so it comes before a slot is acquired. The number
    // of connections to a node is limited instead.
    const early = isKnown && this.database.placement.toleratedHangs > 0 ? await load() : undefined;
    request.releaseSlot = await this.budgets.acquire('widget', isKnown ? siteKey : UNKNOWN, response);
    // Needed if a later guard refuses the request, because the interceptor does not run then.
    response.once('close', request.releaseSlot);
    const widget = early === undefined ? await load() : early;
    if (!widget) {
      if (this.known.delete(siteKey)) await countRefusal(this.limiter, request);
      throw AppError.notFound('Widget');
    }
    if (!isKnown) this.remember(siteKey);
    request.widget = widget as Widget;
    requireAllowedOrigin(request, response, this.previewTokens);
    return true;
  }

  private remember(siteKey: string): void {
    const [oldest] = this.known;
    if (this.known.size >= MAX_KNOWN) this.known.delete(oldest!);
    this.known.add(siteKey);
  }
}

/**
 * Releases a request's slot when the response is ready to be sent, so that a slow client or an event stream
 * does not occupy the slot.
 */
@Injectable()
export class WidgetSlotInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { releaseSlot } = context.switchToHttp().getRequest<Partial<WidgetRequest>>();
    return releaseSlot ? next.handle().pipe(finalize(releaseSlot)) : next.handle();
  }
}

/** Authenticates the visitor. Accepts a request without a token only on routes with `TokenOptional`. */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: VisitorTokens,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<VisitorRequest>();
    const isOptional = this.reflector.get<boolean | undefined>(TOKEN_OPTIONAL, context.getHandler()) ?? false;
    if (isOptional) requireOrigin(request);
    if (request.headers.authorization === undefined && isOptional) return true;
    const visitor = await this.authenticate(request, isOptional);
    if (!visitor) {
      await countRefusal(this.limiter, request);
      throw new AppError('UNAUTHENTICATED', refusalMessage(request));
    }
    request.visitor = visitor;
    return true;
  }

  private authenticate(
    { widget, headers }: VisitorRequest,
    isRenewal: boolean,
  ): Promise<Visitor | null> | null {
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return null;
    return isRenewal ? this.tokens.verifyForRenewal(widget, token) : this.tokens.verify(widget, token);
  }
}

/**
 * Counts a refused request of a client's network.
 *
 * @throws AppError RATE_LIMITED
 */
export function countRefusal(limiter: RateLimiter, request: Request): Promise<number> {
  return limiter.countCall(`widget-refused:${clientNetworkOf(request)}`, REFUSALS);
}

/**
 * Returns the error text of a refusal. A client whose token is invalid is told to begin a session without it.
 */
function refusalMessage({ headers }: Request): string {
  return headers.authorization === undefined
    ? 'Send a token of a session as "Authorization: Bearer …".'
    : 'The token is malformed, expired, or of another widget: begin a new session without it.';
}

/** Applies the limits that a route declares with `ForVisitors`. */
@Injectable()
export class WidgetLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /**
   * Counts a request for each limit in the declared order, until one is exceeded. A request that exceeds the
   * limit of its address is so not counted for its widget.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<VisitorRequest>();
    for (const limit of this.reflector.get<WidgetLimit[]>(LIMITS, context.getHandler())) {
      if (limit.counts?.(request) === false) continue;
      const max = typeof limit.max === 'number' ? limit.max : limit.max(this.config);
      const { excess } = limit;
      await this.limiter.countCall(`widget-${limit.name}:${limitSubject(limit, request)}`, { max, excess });
    }
    return true;
  }
}

/**
 * Returns the part of a counter's key that names the visitor, address or widget. A visitor's id is hashed,
 * because it may be an e-mail address, and Redis may log its commands.
 */
function limitSubject({ by }: WidgetLimit, request: VisitorRequest): string {
  if (by === 'address') return clientNetworkOf(request);
  const { widget, visitor } = request;
  if (by === 'widget') return widget.id;
  return createHash('sha256').update(`${widget.id} ${visitor.externalId}`).digest('base64url');
}

/** Answers every preflight in the same way, without a query. The actual request is checked later. */
function allowPreflight(response: Response): true {
  response.setHeader('Access-Control-Allow-Origin', ANY_ORIGIN);
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PATCH, DELETE');
  response.setHeader(
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, X-Request-Id, X-Widget-Preview',
  );
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  return true;
}

/**
 * Checks the origin of the calling page.
 *
 * @throws AppError FORBIDDEN: the page may not show the widget
 */
function requireAllowedOrigin(
  { widget, headers }: WidgetRequest,
  response: Response,
  previewTokens: PreviewTokens,
): void {
  const { origin } = headers;
  if (origin === undefined) return;
  const { allowedOrigins } = widget.settings;
  const isAny = allowedOrigins.includes(ANY_ORIGIN);
  const isPreview = origin === NO_ORIGIN && previewTokens.verify(widget, headers['x-widget-preview']);
  if (!isAny && !isPreview && !allowedOrigins.includes(origin)) {
    throw new AppError('FORBIDDEN', `Pages of ${origin.slice(0, 200)} may not hold this widget.`);
  }
  if (isAny) response.setHeader('Access-Control-Allow-Origin', ANY_ORIGIN);
}

/**
 * Requires the header `Origin`, which browsers send, so that only pages can begin a session.
 *
 * @throws AppError FORBIDDEN
 */
function requireOrigin({ headers }: Request): void {
  if (headers.origin === undefined) {
    throw new AppError('FORBIDDEN', 'A session is begun by a page: the request has no Origin.');
  }
}
