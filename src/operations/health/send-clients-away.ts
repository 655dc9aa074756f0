import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { INestApplication } from '@nestjs/common';
import { HealthService } from './health.service';

/**
 * Sends clients to other processes before this one refuses requests. For `delayMs` milliseconds it reports
 * that it is not ready, which load balancers see, and closes each connection with its next answer.
 */
export async function sendClientsAway(app: INestApplication, delayMs: number): Promise<void> {
  const server = app.getHttpServer() as Server;
  app.get(HealthService, { strict: false }).stop();
  server.prependListener('request', (_, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  );
  await sleep(delayMs);
}
