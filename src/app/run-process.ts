import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type pino from 'pino';
import { ConfigError } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { HealthService } from '../operations/health/health.service';
import { Connections } from '../http/connections/connections';
import { EventStreams } from '../http/streams/event-streams';

/** Milliseconds from the end of the shutdown's delay until the process exits, even if work is unfinished. */
const SHUTDOWN_DEADLINE_MS = 15_000;
const IDLE_CHECK_MS = 50;

/** A process that serves HTTP, ready to listen. */
export interface HttpProcess {
  app: NestExpressApplication;
  settings: HttpSettings;
  logger: pino.Logger;
  /** Milliseconds (below 15,000) after which a shutdown closes the connections of unfinished requests. */
  requestsDeadlineMs: number;
  /** Fields of the log line that says that the process listens. */
  logFields?: Record<string, string>;
}

/**
 * Runs a process that serves HTTP until SIGTERM or SIGINT. On the signal, it makes clients use other
 * processes, answers requests in progress, ends event streams and closes the application. It exits with 0, or
 * with 1 if the shutdown takes longer than 15 s.
 * @param prepare if it throws, the process exits with 1; a ConfigError is printed as its faults, without a
 *   stack
 */
export function runProcess(prepare: () => Promise<HttpProcess>): void {
  start(prepare).catch((error: Error) => {
    process.stderr.write(`${error instanceof ConfigError ? error.message : error.stack}\n`);
    process.exit(1);
  });
}

async function start(prepare: () => Promise<HttpProcess>): Promise<void> {
  const served = await prepare();
  const { app, settings, logger, logFields } = served;
  await app.listen(settings.port, settings.host);
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (stopping ??= stop(served, signal)));
  const { port } = app.getHttpServer().address() as { port: number };
  logger.info({ ...logFields, port }, 'listening');
}

async function stop(
  { app, settings, logger, requestsDeadlineMs }: HttpProcess,
  signal: string,
): Promise<void> {
  logger.info({ signal }, 'stopping');
  // Bull leaves rejections of its commands unhandled when its connection ends. They must not end the process.
  process.on('unhandledRejection', (err: unknown) => logger.warn({ err }, 'failed while stopping'));
  await sendClientsAway(app, settings.shutdownDelayMs);
  setTimeout(() => {
    logger.error('not everything ended in time');
    process.exit(1);
  }, SHUTDOWN_DEADLINE_MS).unref();
  // Event streams are ended here, because they never end by themselves.
  app.get(EventStreams, { strict: false }).stop();
  await stopServing(app, requestsDeadlineMs);
  await app.close();
  logger.info('stopped');
  process.exit(0);
}

/**
 * Makes clients use other processes before this one refuses requests. For `delayMs` milliseconds it reports
 * to load balancers that it is not ready, and closes each connection after its next answer.
 */
async function sendClientsAway(app: NestExpressApplication, delayMs: number): Promise<void> {
  app.get(HealthService, { strict: false }).stop();
  app
    .getHttpServer()
    .prependListener('request', (_, response: ServerResponse) => response.setHeader('Connection', 'close'));
  await sleep(delayMs);
}

/** Stops the server. Resolves when all requests are answered, or after `deadlineMs` milliseconds. */
async function stopServing(app: NestExpressApplication, deadlineMs: number): Promise<void> {
  const server: Server = app.getHttpServer();
  const connections = app.get(Connections, { strict: false });
  const closed = new Promise((resolve) => server.close(resolve));
  const closeIdle = setInterval(() => {
    server.closeIdleConnections();
    connections.closeSilent();
  }, IDLE_CHECK_MS);
  const closeAll = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(closeAll);
}
