import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { AddressInfo, connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describeOnLinux } from '../support/left-out';
import { environmentOf } from '../support/service-process';
import { createStores, TestStores } from '../support/test-database';

const ROOT = resolve(__dirname, '../..');
/** Starts the service as `npm start` and `npm run demo` do, and prints a line when it is ready. */
const LAUNCHER = `
  import { startApp } from './scripts/app.mjs';
  const reaper = { adopt: (child) => process.once('SIGTERM', () => (child.kill('SIGKILL'), process.exit())) };
  const servers = { embedded: false, reaper };
  await startApp({ servers, env: process.env, port: Number(process.env.PORT), log: 'ignore' });
  console.log('ready');
`;

describeOnLinux('another loopback address', 'the launchers', () => {
  let stores: TestStores;
  const launchers: ChildProcess[] = [];

  beforeAll(async () => {
    stores = await createStores();
  });
  afterAll(async () => {
    for (const launcher of launchers) {
      launcher.kill();
      await once(launcher, 'exit');
    }
  });

  it.each([
    ['this machine alone', undefined, false],
    ['every address of HOST', '0.0.0.0', true],
  ])('listen on %s', async (_, host, isOpen) => {
    const port = await freePort();
    const env = {
      ...environmentOf(stores, 'api'),
      ROLE: 'api',
      PORT: String(port),
      ...(host && { HOST: host }),
    };
    const launcher = spawn(process.execPath, ['--input-type=module', '--eval', LAUNCHER], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    launchers.push(launcher);
    await once(createInterface({ input: launcher.stdout }), 'line');
    expect(await accepts('127.0.0.1', port)).toBe(true);
    // Another address of this machine.
    expect(await accepts('127.0.0.2', port)).toBe(isOpen);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  return new Promise((settle) => {
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
