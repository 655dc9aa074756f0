import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  accessLog,
  ErrorFilter,
  type IdentifiedRequest,
  NestLogger,
  noticeUntrustedProxy,
  requestId,
  RequestPipe,
} from 'conversation-messaging-service/http';
import type pino from 'pino';
import { AppModule } from './app.module';
import { DashboardConfig } from './config/dashboard-config';
import type { WorkspaceRequest } from './http/access.decorators';
import { serveFiles, servePage } from './http/pages';
import { noStore, securityHeaders } from './http/security-headers';

/** The same from `server/src` and from `dist/server`. */
const PAGE_FOLDER = resolve(__dirname, '../../dist/web');
const BODY_LIMIT = 256 * 1024;
const HEAD_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep an idle connection. */
const IDLE_TIMEOUT_MS = 75_000;
const UNTRUSTED_PROXY =
  'a request has X-Forwarded-For, and TRUST_PROXY trusts nobody: if a proxy is in front, everybody shares its address ' +
  'and its limits';

/** The dashboard, ready to listen, for the process and the tests. */
export async function createApp(
  config: DashboardConfig,
  logger: pino.Logger,
  pageFolder = PAGE_FOLDER,
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(config), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', config.trustProxy);
  limitTimes(app.getHttpServer());
  app.use(requestId);
  app.use(accessLog(logger, callerOf));
  if (config.trustProxy === false) app.use(noticeUntrustedProxy(() => logger.warn(UNTRUSTED_PROXY)));
  app.use(securityHeaders(config.isSecure), noStore);
  app.use(serveFiles(pageFolder), servePage(pageFolder));
  app.useBodyParser('json', { limit: BODY_LIMIT });
  app.useGlobalPipes(new RequestPipe());
  app.useGlobalFilters(new ErrorFilter());
  return app;
}

function limitTimes(server: Server): void {
  server.headersTimeout = HEAD_TIMEOUT_MS;
  server.requestTimeout = BODY_TIMEOUT_MS;
  server.keepAliveTimeout = IDLE_TIMEOUT_MS;
}

function callerOf(request: IdentifiedRequest) {
  const { opened, membership } = request as Partial<WorkspaceRequest>;
  if (!opened) return undefined;
  return { personId: opened.person.id, ...(membership && { tenantId: membership.workspace.id }) };
}
