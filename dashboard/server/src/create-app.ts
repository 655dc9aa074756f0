import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { configureHttp, type IdentifiedRequest, NestLogger } from 'conversation-messaging-service/http';
import type pino from 'pino';
import { DashboardModule } from './app.module';
import { DashboardConfig } from './config/dashboard-config';
import type { WorkspaceRequest } from './http/access.decorators';
import { requireAppHost } from './http/app-host';
import { serveFiles, servePage } from './http/pages';
import { noStore, securityHeaders } from './http/security-headers';

/** Folder of the built pages. The relative path is right from `server/src` and from `dist/server`. */
const PAGE_FOLDER = resolve(__dirname, '../../dist/web');

/**
 * Maximum bytes of a body on routes outside of workspaces. It is low because anyone can send these bodies: a
 * body is read before the session is checked.
 */
const BODY_LIMITS = [
  { path: /^(?!\/api\/workspaces\/)/, bytes: 8 * 1024 },
  // A file is stored while it arrives.
  { path: /^\/api\/workspaces\/[^/?]+\/uploads\/[^/?]+\/content/, bytes: null },
];

/** Creates the dashboard's application, which does not listen yet. */
export async function createApp(
  config: DashboardConfig,
  logger: pino.Logger,
  pageFolder = PAGE_FOLDER,
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(DashboardModule.forRoot(config), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  configureHttp(app, {
    ...config.http,
    logger,
    headers: [securityHeaders(config), noStore],
    describeCaller,
    bodyLimits: BODY_LIMITS,
    beforeBody: [requireAppHost(config), serveFiles(pageFolder), servePage(pageFolder)],
  });
  return app;
}

function describeCaller(request: IdentifiedRequest) {
  const { opened, membership } = request as Partial<WorkspaceRequest>;
  if (!opened) return undefined;
  return { personId: opened.person.id, ...(membership && { tenantId: membership.workspace.id }) };
}
