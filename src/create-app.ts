import type { IncomingMessage, ServerOptions } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import type pino from 'pino';
import { HOOK_PATH } from './channels/inbound/hook-path';
import { accessLog } from './http/access-log';
import { ErrorFilter } from './http/error.filter';
import { HttpAdapter } from './http/http-adapter';
import { NestLogger } from './common/logger';
import { requireHost } from './http/protocol-errors';
import { requestId } from './http/request-id';
import { RequestPipe } from './http/request.pipe';
import { noticeUntrustedProxy } from './http/untrusted-proxy';
import { standardHeaders } from './http/standard-headers';
import { Config } from './config/config';
import { DatabaseClock } from './database/database-clock';
import { requireClock } from './health/require-clock';
import { Connections } from './http/connections';
import { BodyLimit, RequestBodies } from './http/request-bodies';
import { measureRequests } from './metrics/http.metrics';
import { Metrics } from './metrics/metrics';
import { DOCS_FILES_PATH, setupOpenApi } from './openapi/openapi';
import { AppModule } from './app.module';

/** Every route is below it, but for those that are listed. */
const API_PREFIX = 'api/v1';
const OUTSIDE_API = [
  // Load balancers and orchestrators call it, whatever the API's version.
  'health/*path',
  // The channels' providers and the widget call it: their addresses outlive a version of the API.
  'channels/*path',
  // Workspaces' pages load the widget's files: their snippets outlive a version of the API.
  'widget/*path',
];
const BODY_LIMIT: BodyLimit = { bytes: 256 * 1024, label: '256 KiB' };
const UNTRUSTED_PROXY =
  'a request has X-Forwarded-For, and TRUST_PROXY trusts nobody: if a proxy is in front, all clients share its address ' +
  'and its limits';
/** Node looks so often for heads and bodies that are late. */
const TIMEOUT_CHECK_MS = 1_000;

/** The service, ready to listen, for the process and the tests. */
export async function createApp(config: Config, logger: pino.Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config),
    new HttpAdapter(timeoutsOf(config)),
    {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    },
  );
  configure(app, config, logger);
  return app;
}

function configure(app: NestExpressApplication, config: Config, logger: pino.Logger): void {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', config.trustProxy);
  app.setGlobalPrefix(API_PREFIX, { exclude: OUTSIDE_API });
  const connections = app.get(Connections);
  connections.attach(app.getHttpServer());
  app.use(requestId);
  app.use(standardHeaders(DOCS_FILES_PATH));
  app.use(accessLog(logger));
  if (config.trustProxy === false) app.use(noticeUntrustedProxy(() => logger.warn(UNTRUSTED_PROXY)));
  app.use(measureRequests(app.get(Metrics)));
  app.use(connections.track);
  app.use(requireHost);
  app.use(requireClock(app.get(DatabaseClock)));
  app.use(app.get(RequestBodies).limit(BODY_LIMIT, isHookCall));
  app.useBodyParser('json', { limit: BODY_LIMIT.bytes, type: isParsed });
  app.useGlobalPipes(new RequestPipe());
  app.useGlobalFilters(new ErrorFilter());
  if (config.role !== 'worker') setupOpenApi(app, config);
}

/** Both are measured from the request's first byte. */
function timeoutsOf(config: Config): ServerOptions {
  return {
    headersTimeout: config.httpHeadTimeoutMs,
    requestTimeout: config.httpBodyTimeoutMs,
    keepAliveTimeout: config.httpIdleTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
}

/** A hook reads its body itself: providers sign the raw bytes, and the hook's key comes first. */
function isHookCall({ url }: IncomingMessage): boolean {
  return HOOK_PATH.test(url ?? '');
}

function isParsed(request: IncomingMessage): boolean {
  return !isHookCall(request) && Boolean((request as Request).is('json'));
}
