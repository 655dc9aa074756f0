import { CanActivate, ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { AppError } from './app-error';

/** Refuses every query parameter, as a route that takes some refuses those it does not know. */
@Injectable()
class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const fields = Object.keys(context.switchToHttp().getRequest<Request>().query);
    if (fields.length === 0) return true;
    const details = fields.map((field) => ({ field, message: 'is not a known field' }));
    throw new AppError('INVALID_QUERY', 'This path takes no query parameters.', details);
  }
}

/** The route takes no query parameters: one that is sent is refused, not ignored. */
export const NoQuery = () => UseGuards(NoQueryGuard);
