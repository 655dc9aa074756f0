import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { INestApplication } from '@nestjs/common';
import { HealthService } from './health.service';

/**
 * Makes the process report that it is not ready, and closes each connection with its next answer, for a time
 * in milliseconds. So clients with open connections and load balancers go to other processes before this one
 * refuses anything.
 */
export async function sendClientsAway(app: INestApplication, delayMs: number): Promise<void> {
  const server = app.getHttpServer() as Server;
  app.get(HealthService, { strict: false }).stop();
  server.prependListener('request', (_, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  );
  await sleep(delayMs);
}
