import type { IncomingMessage } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import type pino from 'pino';
import { HOOK_BODY_LIMIT, HOOK_PATH } from './channels/inbound/hook-path';
import { accessLog } from './common/access-log';
import { AppError } from './common/app-error';
import { ErrorFilter } from './common/error.filter';
import { HttpAdapter } from './common/http-adapter';
import { NestLogger } from './common/logger';
import { answerProtocolErrors, requireHost } from './common/protocol-errors';
import { requestId } from './common/request-id';
import { RequestPipe } from './common/request.pipe';
import { Config } from './config/config';
import { DatabaseClock } from './database/database-clock';
import { requireClock } from './health/require-clock';
import { measureRequests } from './metrics/http.metrics';
import { Metrics } from './metrics/metrics';
import { setupOpenApi } from './openapi/openapi';
import { AppModule } from './app.module';

/** Every route is below it, but for those that are listed. */
const API_PREFIX = 'api/v1';
const OUTSIDE_API = [
  // Load balancers and orchestrators call it, whatever the API's version.
  'health/*path',
  // The channels' providers and the widget call it: their addresses outlive a version of the API.
  'channels/*path',
];
const BODY_LIMIT = '256kb';
/** Longer than load balancers keep an idle connection, so that none is closed at the moment of its next use. */
const KEEP_ALIVE_MS = 75_000;

/** The service, ready to listen, for the process and the tests. */
export async function createApp(config: Config, logger: pino.Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(config), new HttpAdapter(), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  configure(app, config, logger);
  return app;
}

function configure(app: NestExpressApplication, config: Config, logger: pino.Logger): void {
  app.getHttpServer().keepAliveTimeout = KEEP_ALIVE_MS;
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', config.trustProxy);
  app.setGlobalPrefix(API_PREFIX, { exclude: OUTSIDE_API });
  answerProtocolErrors(app.getHttpServer());
  app.use(requestId);
  app.use(accessLog(logger));
  app.use(measureRequests(app.get(Metrics)));
  app.use(requireHost);
  app.use(requireClock(app.get(DatabaseClock)));
  // Providers sign the raw bytes, so their bodies are not parsed here.
  app.useBodyParser('raw', { limit: HOOK_BODY_LIMIT, type: isHookCall, inflate: false });
  app.use(HOOK_PATH, refuseHookBody);
  app.useBodyParser('json', { limit: BODY_LIMIT });
  app.useGlobalPipes(new RequestPipe());
  app.useGlobalFilters(new ErrorFilter());
  if (config.role !== 'worker') setupOpenApi(app, config);
}

function isHookCall({ url }: IncomingMessage): boolean {
  return HOOK_PATH.test(url ?? '');
}

/** A provider's body has its own limit. */
function refuseHookBody(error: unknown, _: Request, __: Response, next: NextFunction): void {
  const isTooLarge = (error as { type?: string }).type === 'entity.too.large';
  next(isTooLarge ? new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than 3 MiB.') : error);
}
