// A backend of the dashboard: calls a service of the package on request, and measures the call.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import {
  MessagingModule,
  WebhookEndpointsService,
  WebhookRecoveriesService,
  type WebhookRecoverySummary,
} from '#dist/index.js';
import { serveParent } from './parent.mts';
import { environmentVariable } from './settings.mts';

/** Command to delete an endpoint, or to send its missed events again, in the name of an agent. */
export interface HostCall {
  name: 'deleteEndpoint' | 'recoverMissed';
  tenantId: string;
  endpointId: string;
  agentId: string;
  /** ISO time from which on missed events are recovered. */
  since?: string;
}

/** Result of a command, and the milliseconds that it took. */
export interface HostResult {
  ms: number;
  recovery?: Pick<WebhookRecoverySummary, 'id' | 'total' | 'isTotalComplete'>;
}

const app = await NestFactory.createApplicationContext(
  MessagingModule.forRoot({
    databaseUrl: environmentVariable('DATABASE_URL'),
    redisUrl: environmentVariable('REDIS_URL'),
    secretsKeys: environmentVariable('SECRETS_KEYS'),
  }),
  { logger: ['error', 'warn'] },
);
const endpoints = app.get(WebhookEndpointsService, { strict: false });
const recoveries = app.get(WebhookRecoveriesService, { strict: false });

async function call({ name, tenantId, endpointId, agentId, since }: HostCall) {
  const actor = { type: 'agent', id: agentId } as const;
  if (name === 'deleteEndpoint') return endpoints.delete(tenantId, endpointId, actor);
  return recoveries.recoverMissed(tenantId, endpointId, { since: new Date(since ?? '') }, actor);
}

serveParent(
  async (command: HostCall): Promise<HostResult> => {
    const startedAt = performance.now();
    const recovery = await call(command);
    return { ms: performance.now() - startedAt, ...(recovery && { recovery }) };
  },
  () => app.close(),
);
