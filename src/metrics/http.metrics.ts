import type { NextFunction, Request, Response } from 'express';
import { Metrics } from './metrics';

/** No answer was sent: the caller hung up first. As nginx has it. */
const CLIENT_GONE = 499;

/** Times every request under its route's template, so that ids make no new series. */
export function measureRequests({ httpRequests }: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.once('close', () => {
      // A stream lasts as long as somebody listens: that is no measure of ours.
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      const status = response.headersSent ? response.statusCode : CLIENT_GONE;
      const labels = { method: request.method, route, status };
      httpRequests.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
