import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import axios from 'axios';
import { Client } from 'pg';
import { environmentOf } from '../support/service-process';
import { createStores, TestDatabase, TestStores } from '../support/test-database';
import { waitForLockWait } from '../support/lock-waits';

const MAIN = resolve(__dirname, '../../dashboard/dist/server/main.js');

/** Tests of the built dashboard in a process of its own. */
describe("the dashboard's process", () => {
  let stores: TestStores;
  let database: TestDatabase;

  beforeAll(async () => {
    stores = await createStores();
    database = new TestDatabase(stores);
  });
  afterAll(async () => {
    await database.close();
  });

  function start(env: Record<string, string>) {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...environmentOf(stores, 'api'), HOST: '127.0.0.1', PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const exited = once(child, 'exit').then(([code]) => ({ code: code as number, stderr }));
    return { child, exited };
  }

  async function listening({ child }: ReturnType<typeof start>): Promise<string> {
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port: number };
      if (msg === 'listening') return `http://127.0.0.1:${port}`;
    }
    throw new Error('The process ended before it listened.');
  }

  it('ends after the request under way is answered', async () => {
    const dashboard = start({});
    const baseUrl = await listening(dashboard);
    expect((await axios.get(`${baseUrl}/health/ready`)).status).toBe(200);
    expect((await axios.get<string>(`${baseUrl}/login`)).data).toContain('<!doctype html>');
    const lock = new Client({ connectionString: stores.databaseAdminUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE people');
    const answer = axios.post(
      `${baseUrl}/api/login`,
      { email: 'nobody@example.com', password: 'whatever it is' },
      { headers: { 'sec-fetch-site': 'same-origin' }, validateStatus: () => true },
    );
    await waitForLockWait(database, 'the login');
    dashboard.child.kill('SIGTERM');
    await lock.query('ROLLBACK');
    await lock.end();
    expect((await answer).status).toBe(401);
    expect(await dashboard.exited).toEqual({ code: 0, stderr: '' });
  });

  it('does not start with a bad configuration, and names the faults', async () => {
    const own = await start({ APP_URL: 'http://dashboard.example.com', LOG_LEVEL: 'loud' }).exited;
    expect(own.code).toBe(1);
    expect(own.stderr).toMatch(/^The configuration has 2 fault\(s\):\n/);
    const shared = await start({ SECRETS_KEYS: '', SMTP_URL: 'smtp://mail' }).exited;
    expect(shared.code).toBe(1);
    expect(shared.stderr).toContain('SECRETS_KEYS: must be set in production');
    expect(shared.stderr).toContain('SMTP_URL and MAIL_FROM must be set together');
  });
});
