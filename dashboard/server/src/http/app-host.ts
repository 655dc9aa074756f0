import { AppError } from 'conversation-messaging-service';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** Paths of the probes, which ask a process by its own address. */
const PROBES = /^\/health(?:\/|$)/;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Reports whether a host name is always this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * Refuses requests for another host than the dashboard's own, whatever their port. Another site's name for
 * this machine would make its pages ours, and a forgotten `APP_URL` would leave the cookies unprotected. A
 * trusted proxy's `X-Forwarded-Host` counts before `Host`, so the proxy must overwrite the client's own.
 */
export function requireAppHost(appOrigin: string): RequestHandler {
  const { hostname } = new URL(appOrigin);
  return (request: Request, _: Response, next: NextFunction): void => {
    const isOurs = request.hostname === hostname || (isLoopback(hostname) && isLoopback(request.hostname));
    if (isOurs || PROBES.test(request.path)) return next();
    next(new AppError('MISDIRECTED_REQUEST', `The dashboard is at ${appOrigin}, as APP_URL says.`));
  };
}
