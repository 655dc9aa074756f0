import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { digestOfVisitor } from '../../inbox/presence/visitor-presence';
import { RateLimiter } from '../../http/limits/rate-limiter';
import { ANY_ORIGIN } from '../adapters/widget/widget-settings';
import { TokenOwner, VisitorTokens } from './visitor-tokens';
import { BEARER, countRefusal } from './widget.guards';

const TYPING = { max: 60, excess: 'Too many notices.' };

export interface TypingRequest extends Request {
  tokenOwner: TokenOwner;
}

/**
 * Authenticates a visitor by the token alone, without an SQL statement. Every page may read the empty
 * response, because the widget and the page's origin were checked when the event stream was opened.
 */
@Injectable()
export class TypingGuard implements CanActivate {
  constructor(
    private readonly tokens: VisitorTokens,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<TypingRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('Access-Control-Allow-Origin', ANY_ORIGIN);
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const owner = token === undefined ? null : await this.tokens.readOwner(token);
    if (!owner) {
      await countRefusal(this.limiter, request);
      throw new AppError('UNAUTHENTICATED', 'Send a token of a session as "Authorization: Bearer …".');
    }
    await this.limiter.countCall(`widget-typing:${digestOfVisitor(owner)}`, TYPING);
    request.tokenOwner = owner;
    return true;
  }
}
