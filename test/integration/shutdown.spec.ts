import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../scripts/processes.mjs';
import { createStores, dropStores, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const MAIN = join(__dirname, '../../dist/main.js');

const CONNECTIONS = 4;

describe('A process at SIGTERM', () => {
  let stores: TestStores;

  beforeAll(async () => {
    stores = await createStores();
  });
  afterAll(() => dropStores(stores));

  it('ends in good order although clients keep their connections busy', async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env.PATH,
        ROLE: 'api',
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
        SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
        LOG_LEVEL: 'silent',
      },
      stdio: 'inherit',
    });
    const exited = once(child, 'exit');
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const isAlive = () => answered(`http://127.0.0.1:${port}/health/live`, agent);
    await waitFor('the process to listen', isAlive);

    const client = async () => {
      while (await isAlive());
    };
    const clients = Array.from({ length: CONNECTIONS }, client);
    child.kill('SIGTERM');

    expect(await exited).toEqual([0, null]);
    await Promise.all(clients);
    agent.destroy();
  });
});

async function answered(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(true));
    }).once('error', () => resolve(false));
  });
}
