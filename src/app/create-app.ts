import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestExpressApplication } from '@nestjs/platform-express';
import type pino from 'pino';
import { HOOK_PATH } from '../channels/inbound/hook.decorators';
import { readableAnswers } from '../channels/widget/readable-answers';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../common/app-error';
import { NestLogger } from '../common/logger';
import { Config } from '../config/config';
import { DatabaseClock } from '../database/database-clock';
import { configureHttp } from '../http/configure-http';
import { HttpAdapter } from '../http/http-adapter';
import { standardHeaders } from '../http/connections/standard-headers';
import { type OpenApiDocuments, openApiDocuments, setupOpenApi } from '../openapi/openapi';
import { AppModule } from './app.module';

const API_PREFIX = 'api/v1';
/** Paths of requests whose body is a file. */
const UPLOAD_PATH = /^\/api\/v1\/(uploads\/[^/?]+\/content|attachments)(?=[/?]|$)/i;
/** Path of the bytes that a visitor of a widget uploads. */
const VISITOR_UPLOAD_PATH = /^\/channels\/widget\/[^/?]+\/uploads\/[^/?]+\/content(?=[/?]|$)/i;
const OUTSIDE_API = [
  // Load balancers and orchestrators call these paths, which are the same in every version of the API.
  'health/*path',
  // Providers of channels and the widget call these paths, which are the same in every version of the API.
  'channels/*path',
  // Links in mails, which must work as long as the mails are kept.
  'alert-mails/*path',
  // Web pages of workspaces load the widget's files from here, whatever the API's version.
  'widget/*path',
  // The documentation names the API's version in its text, so its paths need not name it.
  '/',
  'docs',
  'docs/*path',
];

export async function createApp(config: Config, logger: pino.Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(config), new HttpAdapter(), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  setPaths(app);
  configureHttp(app, {
    ...config.http,
    logger,
    headers: [standardHeaders, readableAnswers],
    beforeBody: [requireClock(app.get(DatabaseClock))],
    // The routes that providers call read the body themselves, as raw bytes, after they have checked the
    // hook's key. A file is stored while it arrives.
    bodyLimits: [
      { path: HOOK_PATH, bytes: null },
      { path: UPLOAD_PATH, bytes: null },
      { path: VISITOR_UPLOAD_PATH, bytes: null },
    ],
  });
  if (config.role !== 'worker') setupOpenApi(app, config);
  return app;
}

/** Builds the OpenAPI documents for tools, without a database or any running part of the service. */
export async function readOpenApiDocuments(config: Config): Promise<OpenApiDocuments> {
  const settings = { preview: true, logger: false, abortOnError: false } as const;
  const app = await NestFactory.create(AppModule.forRoot(config), settings);
  setPaths(app);
  return openApiDocuments(app, config);
}

function setPaths(app: INestApplication): void {
  app.setGlobalPrefix(API_PREFIX, { exclude: OUTSIDE_API });
}

/** Makes middleware that lets only the health routes serve requests while this process's clock is wrong. */
function requireClock(clock: DatabaseClock) {
  return ({ path }: Request, _: Response, next: NextFunction): void =>
    clock.isTrusted || path.startsWith('/health/')
      ? next()
      : next(new AppError('UNAVAILABLE', 'The clock of this process is wrong. Retry shortly.'));
}
