import { AppError } from 'conversation-messaging-service';
import type { DashboardConfig } from '../config/dashboard-config';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isLoopback } from '../config/loopback';

/** Paths of health probes. Any host is allowed there, because probes do not use the dashboard's host name. */
const PROBES = /^\/health(?:\/|$)/;
/** Paths of links to attachments. If these have an origin of their own, no other path is there. */
const LINKS = /^\/attachments\//;

/**
 * Refuses a request for a host other than the dashboard's, whatever the port. Otherwise an attacker's domain
 * that resolves to this server would share the dashboard's origin, and a server with a forgotten `APP_URL`
 * would use cookies without `Secure`. Links to attachments have another host, if `ATTACHMENTS_ORIGIN` is set.
 * A trusted proxy must overwrite `X-Forwarded-Host`, because this header is used instead of `Host`.
 */
export function requireAppHost({
  appOrigin,
  attachmentsOrigin,
}: Pick<DashboardConfig, 'appOrigin' | 'attachmentsOrigin'>): RequestHandler {
  return (request: Request, _: Response, next: NextFunction): void => {
    const isLink = attachmentsOrigin !== null && LINKS.test(request.path);
    const origin = isLink ? attachmentsOrigin : appOrigin;
    if (isAt(request, origin) || PROBES.test(request.path)) return next();
    next(new AppError('MISDIRECTED_REQUEST', `The dashboard is at ${appOrigin}, as APP_URL says.`));
  };
}

function isAt({ hostname }: Request, origin: string): boolean {
  const own = new URL(origin).hostname;
  return hostname === own || (isLoopback(own) && isLoopback(hostname));
}
