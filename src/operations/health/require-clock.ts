import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { DatabaseClock } from '../../database/database-clock';

/**
 * Makes middleware that refuses all requests while this process's clock is wrong, except those of the health
 * routes.
 */
export function requireClock(clock: DatabaseClock) {
  return ({ path }: Request, _: Response, next: NextFunction): void => {
    const isServed = clock.isTrusted || path.startsWith('/health/');
    next(
      isServed
        ? undefined
        : new AppError('UNAVAILABLE', 'The clock of this process is wrong. Retry shortly.'),
    );
  };
}
