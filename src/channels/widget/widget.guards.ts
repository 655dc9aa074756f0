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
import { AnswerLinks } from '../../notices/answers/answer-links';
import { Visitor, VisitorRequest, Widget, WidgetRequest } from './visitor';
import { VisitorTokens } from './visitor-tokens';

export const BEARER = /^Bearer +(\S+)$/i;
const PREFLIGHT_SECONDS = '600';

/** Value of the header `Origin` for a page without an origin, such as a sandboxed page. */
const NO_ORIGIN = 'null';

export const TOKEN_OPTIONAL = 'widget:token-optional';

export const LINK_ALLOWED = 'widget:link-allowed';
/** Token of a link in a mail, as `AnswerLinks` makes it; a session's has two dots. */
const LINK_TOKEN = /^[^.]+\.[^.]+$/;

/** Maximum number of requests a minute, counted for each visitor, address or widget, as `by` says. */
export interface WidgetLimit {
  by: 'visitor' | 'address' | 'widget';
  name: string;
  max: number | ((config: Config) => number);
  excess: string;
  /** Reports whether a request counts towards the limit; by default every request does. */
  counts?: (request: VisitorRequest) => boolean;
}

/** Limit of all requests of a visitor. */
export const CALLS: WidgetLimit = { by: 'visitor', name: 'calls', max: 240, excess: 'Too many requests.' };

export const LIMITS = 'widget:limits';

/** Maximum number of site keys of existing widgets that this process remembers. */
const MAX_KNOWN = 10_000;
/** Name of all unknown site keys, so that requests with invented keys share the slots of one widget. */
const UNKNOWN = 'unknown';

/**
 * Finds the path's widget, checks the page's origin, and sets the CORS headers. Acquires one of the slots for
 * the widget's concurrent requests; WidgetSlotInterceptor releases it.
 */
@Injectable()
export class WidgetGuard implements CanActivate {
  private readonly known = new Set<string>();
  /** Origin of the page that links in mails open. */
  private readonly ownOrigin: string;

  constructor(
    private readonly database: Database,
    private readonly connections: ConnectionLoader,
    private readonly limiter: RateLimiter,
    private readonly budgets: WorkBudgets,
    private readonly previewTokens: PreviewTokens,
    config: Config,
  ) {
    this.ownOrigin = new URL(config.publicUrl).origin;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<WidgetRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.method === 'OPTIONS') return allowPreflight(response);
    const siteKey = request.params['siteKey'] as string;
    const isKnown = this.known.has(siteKey);
    // Counts the request before the look-up, so that invented keys cannot cause unlimited queries.
    if (!isKnown) await countRefusal(this.limiter, request);
    const load = () => this.connections.loadByHookKey('WIDGET', siteKey);
    // On Citus, this read may wait for a node that hangs, so it runs before a slot is acquired.
    const early = isKnown && this.database.placement.toleratedHangs > 0 ? await load() : undefined;
    request.releaseSlot = await this.budgets.acquire('widget', isKnown ? siteKey : UNKNOWN, response);
    // Releases the slot if a later guard refuses the request, because the interceptor does not run then.
    response.once('close', request.releaseSlot);
    const widget = early === undefined ? await load() : early;
    if (!widget) {
      if (this.known.delete(siteKey)) await countRefusal(this.limiter, request);
      throw AppError.notFound('Widget');
    }
    if (!isKnown) this.remember(siteKey);
    request.widget = widget as Widget;
    if (request.headers.origin !== this.ownOrigin)
      requireAllowedOrigin(request, response, this.previewTokens);
    return true;
  }

  private remember(siteKey: string): void {
    const [oldest] = this.known;
    if (this.known.size >= MAX_KNOWN) this.known.delete(oldest!);
    this.known.add(siteKey);
  }
}

/** Releases a request's slot before the response is sent, so that a slow client does not occupy it. */
@Injectable()
export class WidgetSlotInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { releaseSlot } = context.switchToHttp().getRequest<Partial<WidgetRequest>>();
    return releaseSlot ? next.handle().pipe(finalize(releaseSlot)) : next.handle();
  }
}

/**
 * Authenticates the visitor. Accepts a request without a token only on routes with `TokenOptional`, and the
 * token of a link in a mail only on routes with `LinkAllowed`.
 */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: VisitorTokens,
    private readonly links: AnswerLinks,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<VisitorRequest>();
    const isOptional = this.reflector.get<boolean | undefined>(TOKEN_OPTIONAL, context.getHandler()) ?? false;
    if (isOptional) requireOrigin(request);
    if (request.headers.authorization === undefined && isOptional) return true;
    const isLinkAllowed =
      this.reflector.get<boolean | undefined>(LINK_ALLOWED, context.getHandler()) ?? false;
    const visitor = await this.authenticate(request, { isRenewal: isOptional, isLinkAllowed });
    if (!visitor) {
      await countRefusal(this.limiter, request);
      throw new AppError('UNAUTHENTICATED', refusalMessage(request));
    }
    request.visitor = visitor;
    return true;
  }

  private authenticate(
    { widget, headers }: VisitorRequest,
    { isRenewal, isLinkAllowed }: { isRenewal: boolean; isLinkAllowed: boolean },
  ): Promise<Visitor | null> | null {
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return null;
    if (isLinkAllowed && LINK_TOKEN.test(token)) return this.links.findVisitor(widget, token);
    return isRenewal ? this.tokens.verifyForRenewal(widget, token) : this.tokens.verify(widget, token);
  }
}

/** Counts a refused request of a client's network. Throws RATE_LIMITED above the limit. */
export function countRefusal(limiter: RateLimiter, request: Request): Promise<number> {
  return limiter.countCall(`widget-refused:${clientNetworkOf(request)}`, REFUSALS);
}

function refusalMessage({ headers }: Request): string {
  return headers.authorization === undefined
    ? 'Send a token of a session as "Authorization: Bearer …".'
    : 'The token is malformed, expired, or of another widget: begin a new session without it.';
}

@Injectable()
export class WidgetLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /** Counts a request towards each limit, in the given order, and stops at a limit that is exceeded. */
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

/** Returns the id under which a limit counts. Hashes visitors' ids, which may be e-mail addresses. */
function limitSubject({ by }: WidgetLimit, request: VisitorRequest): string {
  if (by === 'address') return clientNetworkOf(request);
  const { widget, visitor } = request;
  if (by === 'widget') return widget.id;
  return createHash('sha256').update(`${widget.id} ${visitor.externalId}`).digest('base64url');
}

/** Answers all preflights alike, without a query, because the request that follows is checked. */
function allowPreflight(response: Response): true {
  response.setHeader('Access-Control-Allow-Origin', ANY_ORIGIN);
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE');
  response.setHeader(
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, If-None-Match, Range, X-Request-Id, X-Widget-Preview',
  );
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  return true;
}

/** Checks the calling page's origin. Throws FORBIDDEN if the page may not show the widget. */
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

/** Throws FORBIDDEN without the header `Origin`, so that only pages can begin sessions. */
function requireOrigin({ headers }: Request): void {
  if (headers.origin === undefined) {
    throw new AppError('FORBIDDEN', 'A session is begun by a page: the request has no Origin.');
  }
}
