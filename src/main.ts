import 'reflect-metadata';
import { createLogger } from './common/logger';
import { Config } from './config/config';
import { createApp } from './app/create-app';
import { runProcess } from './app/run-process';

/**
 * Milliseconds that requests get at a shutdown: a caller that stops sending must not use up deliveries' time.
 */
const REQUESTS_DEADLINE_MS = 4_000;

runProcess(async () => {
  const config = Config.from();
  const { role, http } = config;
  const logger = createLogger(http.logLevel);
  return {
    app: await createApp(config, logger),
    // A worker serves only health checks, so it has no clients to send away.
    settings: role === 'worker' ? { ...http, shutdownDelayMs: 0 } : http,
    logger,
    logFields: { role },
    requestsDeadlineMs: REQUESTS_DEADLINE_MS,
  };
});
