import 'reflect-metadata';
import { createLogger, runProcess } from 'conversation-messaging-service/http';
import { DashboardConfig } from './config/dashboard-config';
import { createApp } from './create-app';

/** Milliseconds that requests get to finish at shutdown, because a call to a provider takes up to 10 s. */
const REQUESTS_DEADLINE_MS = 12_000;

runProcess(async () => {
  const config = DashboardConfig.from();
  const logger = createLogger(config.http.logLevel);
  return {
    app: await createApp(config, logger),
    settings: config.http,
    logger,
    requestsDeadlineMs: REQUESTS_DEADLINE_MS,
  };
});
