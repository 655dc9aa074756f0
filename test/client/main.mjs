// Tries the client's package as its users get it: in Node by import and by require, in Deno, Bun and workerd,
// with the compiler's ways to resolve it, with the checks of publint and arethetypeswrong, and in each
// framework for which the pages have code. npm and npx fetch what is not installed here.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FRAMEWORKS, RECEIVERS, SECRET, tryReceiver, VERIFY_WEBHOOK } from './receivers.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const NAME = '@conversation-messaging/client';
const { version } = JSON.parse(readFileSync(join(ROOT, 'client/package.json'), 'utf8'));
const TOOLS = {
  publint: 'publint@0.3.25',
  attw: '@arethetypeswrong/cli@0.18.5',
  deno: 'deno@2.9.6',
  bun: 'bun@1.4.5',
  workerd: 'workerd@1.20261117.1',
};
/** Longest time in which a server prints what it has handled. */
const MAX_PRINT_MS = 10_000;
const WORKERD_SERVE = ['npx', '--yes', TOOLS.workerd, 'serve', 'workerd.capnp'];
const DENO_RUN = ['run', '--allow-net', '--allow-env', '--node-modules-dir=manual'];

const folder = mkdtempSync(join(tmpdir(), 'messaging-client-'));
const inFolder = (/** @type {string} */ name) => join(folder, name);
let attempts = 0;
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.headers['user-agent'] !== `conversation-messaging-client-js/${version}`) {
    response.writeHead(400).end();
  } else if (request.url !== '/api/v1/me') {
    response.writeHead(404).end('{"error":{"code":"NOT_FOUND","message":"None.","requestId":"r"}}');
  } else if (attempts++ % 2 === 0) {
    response.writeHead(503, { 'retry-after': '0' }).end('{"error":{"code":"UNAVAILABLE","message":"Busy."}}');
  } else {
    response.end('{"tenant":{"name":"Zoë’s shop"}}');
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const baseUrl = `http://127.0.0.1:${port}`;

/**
 * Runs a program in the folder of the package's user, and returns what it printed.
 *
 * @param {string} program
 * @param {string[]} given
 * @returns {Promise<string>}
 */
async function run(program, given) {
  const child = spawn(program, given, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${given.join(' ')} ended with ${code}:\n${said}`);
  return said;
}

/** @type {(tool: string, ...given: string[]) => Promise<string>} */
const npx = (tool, ...given) => run('npx', ['--yes', tool, ...given]);

/** Makes the folder of a user who has installed the package. */
function installPackage() {
  execFileSync('npm', ['run', '--silent', 'build:client'], { cwd: ROOT, stdio: 'inherit' });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, '--workspace', 'client'], {
    cwd: ROOT,
  });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options, `./${tarball}`, ...FRAMEWORKS], { cwd: folder });
  cpSync(join(ROOT, 'test/client/smoke.mjs'), inFolder('smoke.mjs'));
  const vectors = readFileSync(join(ROOT, 'client/vectors/signatures.json'), 'utf8');
  writeFileSync(inFolder('vectors.mjs'), `export default ${vectors};`);
  writeFileSync(
    inFolder('main.mjs'),
    `import { smoke } from './smoke.mjs'; import vectors from './vectors.mjs'; await smoke('${baseUrl}', vectors);`,
  );
  return tarball;
}

/**
 * Writes a worker that has the package's files among its modules.
 *
 * @param {string} main text of its main module
 * @param {number} listening
 */
function writeWorker(main, listening) {
  const dist = `node_modules/${NAME}/dist/esm`;
  const files = readdirSync(inFolder(dist), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.js'));
  const modules = [
    ['worker.mjs', 'worker.mjs'],
    ['smoke.mjs', 'smoke.mjs'],
    ['vectors.mjs', 'vectors.mjs'],
    ...files.map((name) => [
      name === 'index.js' ? NAME : `@conversation-messaging/${name}`,
      `${dist}/${name}`,
    ]),
  ];
  writeFileSync(inFolder('worker.mjs'), main);
  writeFileSync(
    inFolder('workerd.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:${listening}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  compatibilityDate = "2025-01-01",
  modules = [${modules.map(([name, file]) => `(name = "${name}", esModule = embed "${file}")`).join(', ')}],
);`,
  );
}

/** @returns {Promise<number>} a port that nothing listens on */
async function freePort() {
  const held = createServer().listen(0, '127.0.0.1');
  await once(held, 'listening');
  const { port: free } = /** @type {import('node:net').AddressInfo} */ (held.address());
  held.close();
  return free;
}

async function smokeInWorkerd() {
  const free = await freePort();
  const main = `import { smoke } from 'smoke.mjs'; import vectors from 'vectors.mjs';
export default { fetch: () => smoke('${baseUrl}', vectors).then(() => new Response('passed'), (error) => new Response(error.stack)) };`;
  writeWorker(main, free);
  await whileRunning(WORKERD_SERVE, free, async () => {
    const text = await getWhenListening(free);
    if (text !== 'passed') throw new Error(text);
  });
}

/**
 * Lets a page's receiver take webhooks.
 *
 * @param {import('./receivers.mjs').Receiver} receiver
 */
async function receive(receiver) {
  const { code, runtime } = receiver;
  const free = await freePort();
  if (runtime === 'workerd') writeWorker(code, free);
  else writeFileSync(inFolder('receiver.mjs'), code);
  const commands = {
    Node: [process.execPath, 'receiver.mjs'],
    Deno: ['npx', '--yes', TOOLS.deno, ...DENO_RUN, 'receiver.mjs'],
    Bun: ['npx', '--yes', TOOLS.bun, 'receiver.mjs'],
    workerd: WORKERD_SERVE,
  };
  await whileRunning(commands[runtime], free, async (hear) => {
    await getWhenListening(free);
    await tryReceiver(receiver, free, hear);
  });
}

/**
 * Waits until a server listens, and returns its answer to a GET.
 *
 * @param {number} port
 */
function getWhenListening(port) {
  const options = ['--silent', '--retry', '60', '--retry-delay', '1', '--retry-connrefused'];
  return run('curl', [...options, `http://127.0.0.1:${port}/`]);
}

/**
 * Runs a server on a port while something is done with it.
 *
 * @param {string[]} command
 * @param {number} port
 * @param {(hear: (text: string) => Promise<string>) => Promise<void>} use gets a function that waits until
 *   the server prints a text, and returns all that it has printed
 */
async function whileRunning([program = '', ...given], port, use) {
  const env = {
    ...process.env,
    PORT: `${port}`,
    DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
    WEBHOOK_SECRET: SECRET,
  };
  const child = spawn(program, given, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  const hear = async (/** @type {string} */ text) => {
    const signal = AbortSignal.timeout(MAX_PRINT_MS);
    while (!said.includes(text)) await once(child.stdout, 'data', { signal });
    return said;
  };
  try {
    await use(hear);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${said}`);
  } finally {
    // npx has the server as its child.
    process.kill(-(child.pid ?? 0));
  }
}

/** Compiles a user's program with the ways in which the compiler finds the package's types. */
async function compile() {
  const program = `import { createServer } from 'node:http';
import { MessagingClient, type Message, webhooks, type WebhookEvent } from '${NAME}';
export async function answer(client: MessagingClient, event: WebhookEvent): Promise<Message | null> {
  if (event.event !== 'message.created') return null;
  return client.messages.send(event.data.conversationId, { body: event.data.message.body });
}
export const handler = webhooks.fetchHandler('whsec_AAAA', (event) => event.deliveredAt);
export const server = createServer(webhooks.nodeHandler('whsec_AAAA', (event) => event.deliveredAt));
`;
  for (const name of ['main.mts', 'main.cts', 'bundled.ts']) writeFileSync(inFolder(name), program);
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  // What tsc --init switches on beside --strict.
  const stricter = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const common = ['--noEmit', '--strict', ...stricter, '--target', 'es2022', '--types', 'node'];
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
  for (const lib of [
    ['--lib', 'es2023'],
    ['--lib', 'es2023,dom'],
  ]) {
    await run(tsc, [...common, ...types, ...lib, '--module', 'nodenext', 'main.mts', 'main.cts']);
    const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', 'bundled.ts'];
    await run(tsc, [...common, ...types, ...lib, ...bundler]);
  }
}

let failures = 0;

/**
 * @param {string} name
 * @param {() => Promise<unknown>} work
 */
async function check(name, work) {
  const begin = performance.now();
  let outcome = 'passed';
  try {
    await work();
  } catch (error) {
    failures++;
    outcome = `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  console.log(`${name}: ${outcome} (${((performance.now() - begin) / 1_000).toFixed(1)} s)`);
}

try {
  const tarball = installPackage();
  await check('Node, by import', () => run(process.execPath, ['main.mjs']));
  const required = `const { MessagingClient, webhooks } = require('${NAME}'); if (!MessagingClient || !webhooks.verify) throw 1;`;
  await check('Node, by require', () => run(process.execPath, ['--input-type=commonjs', '-e', required]));
  await check('TypeScript', compile);
  await check('publint', () => npx(TOOLS.publint, tarball, '--strict'));
  await check('arethetypeswrong', () => npx(TOOLS.attw, tarball));
  await check('Deno', () => npx(TOOLS.deno, ...DENO_RUN, 'main.mjs'));
  await check('Bun', () => npx(TOOLS.bun, 'main.mjs'));
  await check('workerd', smokeInWorkerd);
  writeFileSync(inFolder('verify-webhook.mjs'), VERIFY_WEBHOOK);
  for (const receiver of RECEIVERS)
    await check(`${receiver.page}, ${receiver.name}`, () => receive(receiver));
} finally {
  server.close();
  rmSync(folder, { recursive: true });
}
process.exitCode = failures === 0 ? 0 : 1;
