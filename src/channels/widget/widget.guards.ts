import {
  applyDecorators,
  CanActivate,
  ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { RateLimit, RateLimiter } from '../../rate-limit/rate-limiter';
import { ANY_ORIGIN } from '../adapters/widget.settings';
import { ConnectionLoader } from '../connections/connection.loader';
import { Visitor, VisitorRequest, Widget, WidgetRequest } from './visitor';
import { VisitorTokens } from './visitor-tokens';

const BEARER = /^Bearer +(\S+)$/i;
const PREFLIGHT_SECONDS = '600';

const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused requests.' };

export const TOKEN_OPTIONAL = 'widget:token-optional';

/** A limit per minute. */
export interface WidgetLimit extends RateLimit {
  by: 'visitor' | 'address';
  /** Of the counter in Redis. */
  name: string;
}

const LIMITS = 'widget:limits';

/** Finds the widget of the path, checks the calling page's origin, and sets the CORS headers of every answer. */
@Injectable()
export class WidgetGuard implements CanActivate {
  constructor(
    private readonly connections: ConnectionLoader,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<WidgetRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    response.vary('Origin');
    const widget = await this.connections.byHookKey('WIDGET', request.params['siteKey'] as string);
    if (!widget) {
      await this.limiter.count(`widget-refused:${addressOf(request)}`, REFUSALS, response);
      throw AppError.notFound('Widget');
    }
    request.widget = widget as Widget;
    allowOrigin(request, response);
    return true;
  }
}

/** Authenticates the visitor, if the route requires a token or the request has one. */
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
    const visitor = await this.authenticate(request);
    if (!visitor) {
      const response = context.switchToHttp().getResponse<Response>();
      await this.limiter.count(`widget-refused:${addressOf(request)}`, REFUSALS, response);
      throw new AppError('UNAUTHENTICATED', refusalOf(request));
    }
    request.visitor = visitor;
    return true;
  }

  private authenticate({ widget, headers }: VisitorRequest): Promise<Visitor | null> | null {
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    return token === undefined ? null : this.tokens.verify(widget, token);
  }
}

/** Tells a client with an invalid token to drop it. */
function refusalOf({ headers }: Request): string {
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
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<VisitorRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    for (const limit of this.reflector.get<WidgetLimit[]>(LIMITS, context.getHandler())) {
      const subject =
        limit.by === 'address' ? addressOf(request) : `${request.widget.id} ${request.visitor.externalId}`;
      await this.limiter.count(`widget-${limit.name}:${subject}`, limit, response);
    }
    return true;
  }
}

export const ForVisitors = (...limits: WidgetLimit[]) =>
  applyDecorators(SetMetadata(LIMITS, limits), UseGuards(VisitorGuard, WidgetLimitGuard));

/** As `TRUST_PROXY` says. */
export function addressOf({ ip }: Request): string {
  return ip ?? 'unknown';
}

/** @throws AppError FORBIDDEN */
function allowOrigin({ widget, headers, method }: WidgetRequest, response: Response): void {
  const { origin } = headers;
  if (origin === undefined) return;
  const { allowedOrigins } = widget.settings;
  const isAny = allowedOrigins.includes(ANY_ORIGIN);
  if (!isAny && !allowedOrigins.includes(origin)) {
    throw new AppError('FORBIDDEN', `Pages of ${origin.slice(0, 200)} may not hold this widget.`);
  }
  response.setHeader('Access-Control-Allow-Origin', isAny ? ANY_ORIGIN : origin);
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
  if (method !== 'OPTIONS') return;
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Request-Id');
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
}

/** Only a page can begin a session. */
function requireOrigin({ headers }: Request): void {
  if (headers.origin === undefined) {
    throw new AppError('FORBIDDEN', 'A session is begun by a page: the request has no Origin.');
  }
}
