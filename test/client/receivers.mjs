// Receivers of webhooks made of the code that the pages show for each framework, and the webhooks that the
// service would send to them.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { bodyOf, headersOf, timestampOf, webhookIdOf } from '#dist/webhooks/sending/delivery-request.js';
import {
  generateEndpointSecret,
  serviceSignature,
  standardSignature,
} from '#dist/webhooks/sending/signature.js';

const ROOT = resolve(import.meta.dirname, '../..');
const TEXT = 'Größe? 👋';
/** Line that a receiver prints for the message that it was sent. */
const HANDLED = `handled ${TEXT}`;

/** Secret of the endpoint whose webhooks the receivers take. */
export const SECRET = generateEndpointSecret();

/**
 * Receiver: a program that listens on the port in `PORT`.
 *
 * @typedef {object} Receiver
 * @property {string} page
 * @property {string} name name of the framework on the page
 * @property {string} code
 * @property {'Node' | 'Deno' | 'Bun' | 'workerd'} runtime
 * @property {boolean} isTold whether it prints HANDLED
 */

/** Packages of the frameworks, as npm installs them for the receivers. */
export const FRAMEWORKS = [
  'express@5.3.0',
  'fastify@5.12.8',
  'hono@4.13.19',
  '@hono/node-server@2.1.9',
  '@nestjs/common@12.5.1',
  '@nestjs/core@12.5.1',
  '@nestjs/platform-express@12.5.1',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
];

const PORT = 'Number(process.env.PORT)';

/** Code that lets what a page shows listen, by framework. */
const LISTEN = {
  Express: `app.listen(${PORT});`,
  Fastify: `await app.listen({ port: ${PORT} });`,
  Hono: `import { serve } from '@hono/node-server';
serve({ fetch: app.fetch, port: ${PORT} });`,
  // A route handler of Next is a function of a Request.
  Next: `import { createServer } from 'node:http';
import { Readable } from 'node:stream';
createServer(async (incoming, outgoing) => {
  const { method, headers } = incoming;
  const body = method === 'POST' ? Readable.toWeb(incoming) : undefined;
  const request = new Request('http://localhost' + incoming.url, { method, headers, body, duplex: 'half' });
  const response = await POST(request);
  outgoing.writeHead(response.status).end(await response.text());
}).listen(${PORT});`,
  /** @param {string} create code that creates the application */
  Nest: (create) => `import { NestFactory } from '@nestjs/core';
import { Module } from '@nestjs/common';
@Module({ controllers: [WebhooksController] })
class AppModule {}
const app = await ${create};
await app.listen(${PORT});`,
};

/** @param {'nodeHandler' | 'fetchHandler'} maker */
const handlerOf = (maker) => `const handler = webhooks.${maker}(secret, onEvent);`;

/**
 * Makes the program of each row of the client's README about handlers, of the row's pieces of code.
 *
 * @type {Record<string, (...pieces: string[]) => string>}
 */
const OF_ROW = {
  Express: (route, parser) => `import express from 'express';
const app = express();
${route};
app.use(${parser});
${LISTEN.Express}`,
  'Next route handlers': (post) => `${post};
${LISTEN.Next}`,
  Hono: (route, maker) => `import { Hono } from 'hono';
const app = new Hono();
${handlerOf(/** @type {'fetchHandler'} */ (maker))}
${route};
${LISTEN.Hono}`,
  Deno: (serve, _, maker) => `${handlerOf(/** @type {'fetchHandler'} */ (maker))}
${serve};`,
  Bun: (_, serve, maker) => `${handlerOf(/** @type {'fetchHandler'} */ (maker))}
${serve};`,
  'Cloudflare Workers': (main, maker) => `${handlerOf(/** @type {'fetchHandler'} */ (maker))}
${main};`,
  Fastify: (...statements) => `import fastify from 'fastify';
const app = fastify();
${handlerOf('nodeHandler')}
app.register(async (app) => {
  ${statements.join(';\n  ')};
});
${LISTEN.Fastify}`,
  Nest: (create, call) => `import { Controller, Post, Req, Res } from '@nestjs/common';
${handlerOf('nodeHandler')}
@Controller('webhooks')
class WebhooksController {
  @Post()
  receive(@Req() request: any, @Res() response: any) {
    return ${call};
  }
}
${LISTEN.Nest(create ?? '')}`,
};

/** @type {Record<string, Receiver['runtime']>} */
const RUNTIMES = { Deno: 'Deno', Bun: 'Bun', 'Cloudflare Workers': 'workerd' };

/** @param {string} path */
const read = (path) => readFileSync(join(ROOT, path), 'utf8');

/**
 * Returns receivers of the lines of the client's README, one for each framework.
 *
 * @returns {Receiver[]}
 */
function receiversOfReadme() {
  const page = 'client/README.md';
  const [, table = ''] = /^\| In .*\n\| -.*\n((?:\|.*\n)+)/m.exec(read(page)) ?? [];
  const rows = [...table.matchAll(/^\| (.*?) +\| (.*) \|$/gm)].flatMap(([, names = '', cell = '']) =>
    names.split(', ').map((name) => ({ name, cell })),
  );
  return rows.map(({ name, cell }) => {
    const program = OF_ROW[name];
    if (!program) throw new Error(`No program is known for ${name}, which ${page} has.`);
    const pieces = [...cell.matchAll(/`([^`]+)`/g)].map(([, piece = '']) => piece);
    const code = `import { webhooks } from '@conversation-messaging/client';
const secret = '${SECRET}';
const onEvent = (event: any) => console.log('handled', event.data.message.body);
${program(...pieces)}`;
    return { page, name, code: inJavaScript(code), runtime: RUNTIMES[name] ?? 'Node', isTold: true };
  });
}

/**
 * Returns receivers of the code for each framework of a page, without the client.
 *
 * @returns {Receiver[]}
 */
function receiversOfRawBody() {
  const page = 'docs/how-to/raw-body.md';
  const blocks = [...read(page).matchAll(/^```ts tab=(\w+)\n([^]*?)^```$/gm)];
  return blocks.map(([, name = '', shown = '']) => {
    const listen = LISTEN[/** @type {keyof typeof LISTEN} */ (name)];
    if (!listen) throw new Error(`No way to listen is known for ${name}, which ${page} has.`);
    const [create = ''] = /NestFactory\.create\(.*\)/.exec(shown) ?? [];
    const code = `${shown}\n${typeof listen === 'string' ? listen : listen(create)}`;
    return {
      page,
      name,
      code: inJavaScript(code).replaceAll("'./verify-webhook'", "'./verify-webhook.mjs'"),
      runtime: 'Node',
      isTold: false,
    };
  });
}

/** Module that the page about raw bodies imports. */
export const VERIFY_WEBHOOK = inJavaScript(read('examples/verify-webhook.ts'));

export const RECEIVERS = [...receiversOfReadme(), ...receiversOfRawBody()];

/** @param {string} code in TypeScript */
function inJavaScript(code) {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  return outputText;
}

/**
 * Sends a receiver a webhook with another endpoint's secret, and one as the service signs it.
 *
 * @param {Receiver} receiver
 * @param {number} port
 * @param {(text: string) => Promise<string>} hear waits until the receiver prints a text, and returns all
 *   that it has printed
 */
export async function tryReceiver({ isTold }, port, hear) {
  const forged = await send(port, generateEndpointSecret());
  if (forged !== 401) throw new Error(`A forged webhook was answered with ${forged}.`);
  const genuine = await send(port, SECRET);
  if (genuine !== 204) throw new Error(`A genuine webhook was answered with ${genuine}.`);
  if (!isTold) return;
  const times = (await hear(HANDLED)).split(HANDLED).length - 1;
  if (times !== 1) throw new Error(`${times} events were handled instead of one.`);
}

/**
 * Sends a webhook, and returns the status of its answer.
 *
 * @param {number} port
 * @param {string} secret
 */
async function send(port, secret) {
  const at = new Date();
  const content = {
    deliveryId: randomUUID(),
    eventType: 'message.created',
    data: JSON.stringify({
      conversationId: randomUUID(),
      message: { id: randomUUID(), body: TEXT, senderType: 'CUSTOMER', createdAt: at.toISOString() },
    }),
    sequence: '1',
  };
  const body = bodyOf(content, at);
  const headers = headersOf(content, at, {
    service: serviceSignature(secret, body),
    standard: standardSignature(secret, webhookIdOf(content), timestampOf(at), body),
  });
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [/** @type {[string, string]} */ ([name, headers[index + 1] ?? ''])] : [],
  );
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { status } = await fetch(url, { method: 'POST', headers: pairs, body });
  return status;
}
