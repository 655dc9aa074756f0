import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import axios from 'axios';
import { freePort } from '../../scripts/processes.mjs';
import { RawConnection } from '../support/raw-connection';
import { ServiceProcess } from '../support/service-process';
import { createStores, fileFolderOf, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const MAIN = join(__dirname, '../../dist/main.js');

const CONNECTIONS = 4;

describe('A process at SIGTERM', () => {
  let stores: TestStores;

  beforeAll(async () => {
    stores = await createStores();
  });

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
        FILE_STORE_DIRECTORY: fileFolderOf(stores),
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

  it('goes on serving for a while, but is not ready, and closes each connection with its answer', async () => {
    const api = await ServiceProcess.start('api', stores, { SHUTDOWN_DELAY_MS: '5000' });
    const agent = new Agent({ keepAlive: true });
    const ask = (path: string) => axios.get(`${api.url}${path}`, { httpAgent: agent, validateStatus: null });
    expect(await ask('/health/ready')).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });

    api.kill('SIGTERM');
    const refusal = async () => {
      const { status, data } = await ask('/health/ready');
      return status === 503 && data;
    };
    expect(await waitFor('the process to be unready', refusal)).toMatchObject({
      error: { code: 'UNAVAILABLE', details: [{ field: 'process', message: 'is stopping' }] },
    });
    // A load balancer that has not checked yet sends more requests, also over new connections.
    for (let n = 0; n < 3; n++)
      expect(await ask('/health/live')).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await api.exited).toEqual({ code: 0, signal: null });
    agent.destroy();
  });

  it('waits for those who are sending a request, not for those who have sent nothing', async () => {
    const api = await ServiceProcess.start('api', stores);
    const [silent, slow] = await Promise.all([RawConnection.open(api.url), RawConnection.open(api.url)]);
    slow.send('GET /health/live HTTP/1.1\r\n');

    api.kill('SIGTERM');
    await silent.closed;
    slow.send('Host: x\r\n\r\n');

    await waitFor('the answer', () => slow.answers().length > 0);
    expect(slow.answers()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
    expect(await api.exited).toEqual({ code: 0, signal: null });
  });
});

async function answered(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(true));
    }).once('error', () => resolve(false));
  });
}
