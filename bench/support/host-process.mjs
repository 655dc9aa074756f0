// A backend of the dashboard: calls a service of the package on request, and measures the call.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { NestFactory } from '@nestjs/core';

const messaging = createRequire(import.meta.url)('../../dist/index.js');

const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SECRETS_KEYS: secretsKeys } = process.env;
const app = await NestFactory.createApplicationContext(
  messaging.MessagingModule.forRoot({ databaseUrl, redisUrl, secretsKeys }),
  { logger: ['error', 'warn'] },
);

process.on('message', async ({ service, method, parameters }) => {
  const startedAt = performance.now();
  try {
    const result = await app.get(messaging[service], { strict: false })[method](...parameters);
    process.send({ ms: performance.now() - startedAt, result });
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
});
process.on('SIGTERM', () => app.close().then(() => process.exit()));
process.on('disconnect', () => process.exit());
process.send({ port: 0 });
