import 'reflect-metadata';
import type { Server } from 'node:http';
import { NestExpressApplication } from '@nestjs/platform-express';
import type pino from 'pino';
import { VisitorStreams } from './channels/widget/visitor-streams';
import { createLogger } from './common/logger';
import { Config, ConfigError } from './config/config';
import { createApp } from './create-app';
import { sendClientsAway } from './health/send-clients-away';
import { Connections } from './http/connections';

/** After SIGTERM, requests and deliveries have this long to finish. */
const SHUTDOWN_DEADLINE_MS = 15_000;
/** Requests take less. A caller who stops sending must not take the time of the deliveries. */
const REQUESTS_DEADLINE_MS = 4_000;
const IDLE_CHECK_MS = 50;

async function main(): Promise<void> {
  const config = Config.from();
  const logger = createLogger(config.logLevel);
  const app = await createApp(config, logger);
  await app.listen(config.port, config.host);
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (stopping ??= stop(app, config, logger, signal)));
  const { port } = app.getHttpServer().address() as { port: number };
  logger.info({ role: config.role, port }, 'listening');
}

/** Accepts nothing new, finishes requests and then deliveries, and closes every connection. */
async function stop(
  app: NestExpressApplication,
  { role, shutdownDelayMs }: Config,
  logger: pino.Logger,
  signal: string,
): Promise<void> {
  logger.info({ signal }, 'stopping');
  // Bull does not handle commands that fail when its connection ends. That must not disturb the shutdown.
  process.on('unhandledRejection', (err: unknown) => logger.warn({ err }, 'failed while stopping'));
  // A worker answers nobody but those who ask for its health.
  await sendClientsAway(app, role === 'worker' ? 0 : shutdownDelayMs);
  setTimeout(() => {
    logger.error('not everything ended in time');
    process.exit(1);
  }, SHUTDOWN_DEADLINE_MS).unref();
  // Streams never end by themselves.
  if (role !== 'worker') app.get(VisitorStreams).stop();
  await stopServing(app.getHttpServer(), app.get(Connections));
  await app.close();
  logger.info('stopped');
  process.exit(0);
}

/** Settles when every request is answered. Idle connections are closed at once. */
async function stopServing(server: Server, connections: Connections): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const closeIdle = setInterval(() => {
    server.closeIdleConnections();
    connections.closeSilent();
  }, IDLE_CHECK_MS);
  const closeAll = setTimeout(() => server.closeAllConnections(), REQUESTS_DEADLINE_MS);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(closeAll);
}

main().catch((error: Error) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : error.stack}\n`);
  process.exit(1);
});
