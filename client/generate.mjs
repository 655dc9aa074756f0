// Writes src/generated/openapi.ts from the built service: npm run build:service, then this.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { generateTypes } from './generated-types.mjs';

const require = createRequire(import.meta.url);
require('reflect-metadata');
const { NestFactory } = require('@nestjs/core');
const { AppModule } = require('../dist/app/app.module');
const { Config } = require('../dist/config/config');
const { HttpAdapter } = require('../dist/http/http-adapter');
const { openApiDocuments } = require('../dist/openapi/openapi');

/** Settings without which no application is made. A preview connects to nothing. */
const config = Config.from({
  ROLE: 'api',
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  SECRETS_KEYS: `preview:${Buffer.alloc(32).toString('base64')}`,
});
const app = await NestFactory.create(AppModule.forRoot(config), new HttpAdapter(), {
  preview: true,
  logger: false,
});
app.setGlobalPrefix('api/v1', { exclude: ['health/*path', 'channels/*path', 'widget/*path'] });
const file = fileURLToPath(new URL('src/generated/openapi.ts', import.meta.url));
writeFileSync(file, await generateTypes(openApiDocuments(app, config).api));
process.exit();
