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

/** A call for one workspace's endpoint, by one of its agents. */
export interface HostCall {
  name: 'deleteEndpoint' | 'recoverMissed';
  tenantId: string;
  endpointId: string;
  agentId: string;
  /** The beginning of what is recovered. */
  since?: string;
}

/** The result of a call after `ms` milliseconds. */
export interface HostResult {
  ms: number;
  recovery?: Pick<WebhookRecoverySummary, 'id' | 'total'>;
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
