import type { NextFunction, Request, Response } from 'express';
import { Metrics } from './metrics';

/** Times every request under its route's template, so that ids make no new series. */
export function measureRequests({ httpRequests }: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      const labels = { method: request.method, route, status: response.statusCode };
      httpRequests.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
