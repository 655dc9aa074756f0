// Runs the tests of the store in a bucket against Moto, a server with S3's protocol that others wrote:
// pip install 'moto[server]', then npm run test:s3. MOTO_SERVER names the program if it is not on the PATH;
// S3_ENDPOINT names another server instead.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const program = process.env.MOTO_SERVER ?? 'moto_server';
const START_MS = 20_000;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** @param {string} endpoint */
async function untilItAnswers(endpoint) {
  for (const until = Date.now() + START_MS; Date.now() < until; await once(AbortSignal.timeout(100), 'abort'))
    if (await fetch(endpoint).catch(() => null)) return;
  throw new Error(`${program} has not answered at ${endpoint} within ${START_MS / 1000} s`);
}

if (!process.env.S3_ENDPOINT && spawnSync(program, ['-h']).error) {
  console.error(
    `SKIPPED: ${program} is not installed (pip install 'moto[server]'). The store in a bucket was NOT tested.`,
  );
  process.exit(process.env.CI ? 1 : 0);
}
const port = await freePort();
const endpoint = process.env.S3_ENDPOINT ?? `http://127.0.0.1:${port}`;
const server = process.env.S3_ENDPOINT
  ? null
  : spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
try {
  await untilItAnswers(endpoint);
  const { status } = spawnSync('npx', ['jest', '--config', 'jest.s3.cjs', '--runInBand'], {
    stdio: 'inherit',
    env: {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      ...process.env,
      S3_ENDPOINT: endpoint,
    },
  });
  process.exitCode = status ?? 1;
} finally {
  server?.kill();
}
