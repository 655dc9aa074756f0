import 'reflect-metadata';
import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ConfigError } from 'conversation-messaging-service';
import { createLogger, sendClientsAway } from 'conversation-messaging-service/http';
import type pino from 'pino';
import { DashboardConfig } from './config/dashboard-config';
import { createApp } from './create-app';

/** After SIGTERM, requests have this long to finish. */
const SHUTDOWN_DEADLINE_MS = 15_000;
const IDLE_CHECK_MS = 50;

async function main(): Promise<void> {
  const config = DashboardConfig.from();
  const logger = createLogger(config.logLevel);
  const app = await createApp(config, logger);
  await app.listen(config.port, config.host);
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (stopping ??= stop(app, config, logger, signal)));
  const { port } = app.getHttpServer().address() as { port: number };
  logger.info({ port }, 'listening');
}

/** Sends clients to other processes first, then answers what is under way, and closes every connection. */
async function stop(
  app: NestExpressApplication,
  { shutdownDelayMs }: DashboardConfig,
  logger: pino.Logger,
  signal: string,
): Promise<void> {
  logger.info({ signal }, 'stopping');
  await sendClientsAway(app, shutdownDelayMs);
  setTimeout(() => {
    logger.error('not everything ended in time');
    process.exit(1);
  }, SHUTDOWN_DEADLINE_MS).unref();
  const server: Server = app.getHttpServer();
  const closed = new Promise((resolve) => server.close(resolve));
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  await closed;
  clearInterval(closeIdle);
  await app.close();
  logger.info('stopped');
  process.exit(0);
}

main().catch((error: Error) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : error.stack}\n`);
  process.exit(1);
});
