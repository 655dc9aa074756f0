import { CanActivate, ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { AppError } from './app-error';

@Injectable()
class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const fields = Object.keys(context.switchToHttp().getRequest<Request>().query);
    if (fields.length === 0) return true;
    const details = fields.map((field) => ({ field, message: 'is not a known field' }));
    throw new AppError('INVALID_QUERY', 'This path takes no query parameters.', details);
  }
}

/** Refuses every query parameter, as a DTO refuses unknown ones. */
export const NoQuery = () => UseGuards(NoQueryGuard);
