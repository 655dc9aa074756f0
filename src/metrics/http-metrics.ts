import type { NextFunction, Request, Response } from 'express';
import { Metrics } from './metrics';

/** Status, as in nginx, of a request whose client closed the connection before the response. */
const CLIENT_CLOSED_REQUEST = 499;

/** Counts and times requests. The label is the template of the route, so that ids make no new time series. */
export function measureRequests({ httpRequests }: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.once('close', () => {
      // The duration of a stream depends on its client, not on the service.
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST;
      const labels = { method: request.method, route, status };
      httpRequests.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
