import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, RequestHandler } from 'express';
import type pino from 'pino';
import { HttpLimits, HttpSettings } from '../config/http-settings';
import { Metrics } from '../metrics/metrics';
import { Connections } from './connections/connections';
import { ErrorFilter } from './error.filter';
import { EventStreams } from './streams/event-streams';
import { parseJsonBody } from './json-body';
import { requireHost } from './connections/protocol-errors';
import { parseQuery } from './query';
import { BodyLimit, RequestBodies } from './connections/request-bodies';
import { DescribeCaller, recordRequests } from './request-records';
import { RequestPipe } from './request.pipe';
import { noticeUntrustedProxy } from './untrusted-proxy';

const UNTRUSTED_PROXY =
  'a request has X-Forwarded-For, and TRUST_PROXY trusts nobody: if a proxy is in front, all clients share its address ' +
  'and its limits';

const ALL_TRUSTED =
  'TRUST_PROXY is true: every client can name any address as its own, and so has no limits. Name the proxy instead';

export interface HttpOptions extends Pick<HttpSettings, 'trustProxy'> {
  /** Logs one line a request, and the warning about a proxy that is not trusted. */
  logger: pino.Logger;
  limits: HttpLimits;
  /** Middleware that sets headers of every answer. */
  headers?: RequestHandler[];
  /** Returns the caller's ids for the access log; by default the ids of the API key and of its workspace. */
  describeCaller?: DescribeCaller;
  /** Middleware that runs before a body is read, such as static files. */
  beforeBody?: RequestHandler[];
  /** Body limits by path: the first entry whose `path` matches that of the request, otherwise 256 KiB. */
  bodyLimits?: BodyLimit[];
}

/**
 * Gives an application the same HTTP side as the REST API. It limits connections, bodies, unread answers and
 * the time that clients take. It adds request ids, an access log and metrics, validates input by the classes
 * of the routes, and gives every error the same form. Call it once, before the application listens, on an
 * application that was created with `bodyParser: false` and imports `MessagingModule`.
 */
export function configureHttp(app: NestExpressApplication, options: HttpOptions): void {
  const { logger, trustProxy, limits, headers = [], beforeBody = [] } = options;
  const connections = app.get(Connections, { strict: false });
  const bodies = app.get(RequestBodies, { strict: false });
  connections.attach(app.getHttpServer(), limits);
  bodies.configure(limits.maxUnfinishedBytes, options.bodyLimits ?? []);
  app.get(EventStreams, { strict: false }).setLimit(limits.maxStreams);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.set('trust proxy', trustProxy);
  const metrics = app.get(Metrics, { strict: false });
  app.use(recordRequests(logger, metrics, options.describeCaller), ...headers);
  if (trustProxy === true) logger.warn(ALL_TRUSTED);
  if (trustProxy === false) app.use(noticeUntrustedProxy(() => logger.warn(UNTRUSTED_PROXY)));
  app.use(connections.track, requireHost, ...beforeBody, bodies.watchParsed);
  parseBodies(app, bodies);
  app.useGlobalPipes(new RequestPipe());
  app.useGlobalFilters(new ErrorFilter());
}

function parseBodies(app: NestExpressApplication, bodies: RequestBodies): void {
  for (const limit of bodies.sizes) {
    const type = (request: unknown) =>
      bodies.limitOf(request as Request) === limit && Boolean((request as Request).is('json'));
    app.useBodyParser('raw', { limit, type });
  }
  app.use(bodies.nameLimit, parseJsonBody);
}
