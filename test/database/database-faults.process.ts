import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'node:http';
import axios from 'axios';
import { startPostgres } from '../../scripts/servers/postgres.mjs';
import { Config } from '../../src/config/config';
import { migrate } from '../../src/database/setup/migrator';
import { HeldAnswers } from '../support/held-answers';
import { describeWith, itOnLinux } from '../support/left-out';
import { MessagingHost } from '../support/messaging-host';
import { makeServerContext, ServerContext } from '../support/server-context';
import { Receiver } from '../support/receiver';
import { runProgram } from '../support/run-program';
import { environmentOf, ServiceProcess } from '../support/service-process';
import { TestCa } from '../support/test-ca';
import { CLI } from '../support/test-cli';
import { ownRedis, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';
import { attemptsOf, deliveriesOf } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';

/** Number of files with which a process can open no further one: its first ones are all in use. */
const NO_FURTHER_FILE = 10;
/** Number of log lines about a fault after which each part of a worker has met it more than once. */
const FAILURES = 20;

interface Fault {
  /** Program of Linux alone that makes the fault. */
  needs?: string;
  /** Code of the errors in the log. */
  code: string;
  /** Detail of the readiness route; null when the process can't take the request for it. */
  detail: string | null;
  /** Makes the connections of a process fail that it opens from now on. */
  begin(of: ServiceProcess): Promise<unknown>;
  end(of: ServiceProcess): Promise<unknown>;
}

jest.setTimeout(120_000);

describe('real faults of the database', () => {
  let context: ServerContext;
  let ca: TestCa;
  let stores: TestStores;
  let host: MessagingHost;
  let receiver: Receiver;
  let held: HeldAnswers;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    context = await makeServerContext();
    ca = await TestCa.create();
    writeFileSync(join(context.home.directory, 'ca.pem'), ca.pem);
    await useCertificate();
    const settings = { ssl: 'on', ssl_cert_file: pathOf('server.crt'), ssl_key_file: pathOf('server.key') };
    const server = await startPostgres({ ...context, disposable: true, settings });
    const { databaseUrl, databaseOwnerUrl, adminUrl } = server;
    stores = { databaseUrl, databaseOwnerUrl, databaseAdminUrl: adminUrl, redisUrl: await ownRedis() };
    await migrate(Config.from(environmentOf(stores)), 'up');
    // The test's own connections are the administrator's, which no fault concerns.
    host = await MessagingHost.create({ beside: { stores }, databaseUrl: adminUrl });
    receiver = await Receiver.start();
    held = new HeldAnswers(receiver);
  });
  afterEach(async () => {
    for (const one of running) one.kill('SIGKILL');
    await Promise.all(running.map(({ exited }) => exited));
    running.length = 0;
  });
  afterAll(async () => {
    await host.close();
    await receiver.stop();
    await context.reaper.finish();
  });

  const pathOf = (file: string) => join(context.home.directory, file);

  /** Gives PostgreSQL a certificate for its new connections. */
  async function useCertificate(options: { expired?: boolean } = {}): Promise<void> {
    const { cert, key } = await ca.issue(['127.0.0.1'], options);
    const { directory, user } = context.home;
    for (const [file, content] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
      writeFileSync(join(directory, file), content, { mode: 0o600 });
      if (user) chownSync(join(directory, file), user.uid, user.gid);
    }
  }

  async function renewCertificate(options: { expired?: boolean } = {}): Promise<void> {
    await useCertificate(options);
    await host.query('SELECT pg_reload_conf()');
  }

  const setPassword = (password: string) =>
    host.query(`ALTER ROLE messaging_service PASSWORD '${decodeURIComponent(password)}'`);

  const limitFiles = ({ pid }: ServiceProcess, limit: string) =>
    runProgram('prlimit', [`--pid=${pid}`, `--nofile=${limit}:`]);

  const FAULTS: Record<string, Fault> = {
    'a file limit': {
      needs: 'prlimit',
      code: 'EMFILE',
      detail: null,
      begin: (of) => limitFiles(of, String(NO_FURTHER_FILE)),
      end: (of) => limitFiles(of, '1024'),
    },
    'a changed password': {
      code: '28P01',
      detail: 'refuses the role or its password',
      begin: () => setPassword('changed'),
      end: () => setPassword(new URL(stores.databaseUrl).password),
    },
    'a lapsed certificate': {
      code: 'CERT_HAS_EXPIRED',
      detail: 'has a certificate that is not valid',
      begin: () => renewCertificate({ expired: true }),
      end: () => renewCertificate(),
    },
  };

  async function start(role: 'api' | 'worker', logFile?: string): Promise<ServiceProcess> {
    const address = new URL(stores.databaseUrl);
    address.searchParams.set('sslmode', 'verify-full');
    address.searchParams.set('sslrootcert', pathOf('ca.pem'));
    const one = await ServiceProcess.start(role, stores, { DATABASE_URL: address.href }, { logFile });
    running.push(one);
    return one;
  }

  /** Begins a fault of a process, and ends the connections that it has. */
  async function begin(fault: Fault, of: ServiceProcess): Promise<void> {
    await fault.begin(of);
    await host.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'messaging_service'`,
    );
  }

  const detailsOf = async (of: ServiceProcess) => {
    const options = { proxy: false, validateStatus: null } as const;
    const { status, data } = await axios.get(`${of.url}/health/ready`, options);
    return status === 200 ? 'ready' : data.error.details;
  };

  const itWithEach = (title: string, test: (fault: Fault) => Promise<void>) => {
    for (const [name, fault] of Object.entries(FAULTS)) {
      const whole = `${name}: ${title}`;
      if (fault.needs) itOnLinux(fault.needs, whole, () => test(fault));
      else it(whole, () => test(fault));
    }
  };

  itWithEach('a worker parks nothing, drops no record, sends nothing twice', async (fault) => {
    const logFile = pathOf(`${fault.code}.log`);
    const worker = await start('worker', logFile);
    const subscription = await subscribe(host, receiver, { events: ['message.created'] });
    const { path, endpoint } = subscription;
    held.hold(path);
    await subscription.message();
    await held.waitForCount(path, 1);

    await begin(fault, worker);
    held.release(path);
    await subscription.message();
    await waitFor('failures', () => {
      const lines = readFileSync(logFile, 'utf8').split('\n');
      return lines.filter((line) => line.includes(fault.code)).length >= FAILURES;
    });
    if (fault.detail !== null)
      expect(await detailsOf(worker)).toEqual(
        expect.arrayContaining([{ field: 'database', message: fault.detail }]),
      );

    await fault.end(worker);
    const delivered = await waitFor('both deliveries', async () => {
      const stored = await deliveriesOf(host, endpoint);
      return stored.length === 2 && stored.every(({ status }) => status === 'SUCCEEDED') && stored;
    });
    expect(delivered.map(({ attempt_count: count }) => count)).toEqual([1, 1]);
    expect(await attemptsOf(host, endpoint)).toMatchObject([{ status_code: 200 }, { status_code: 200 }]);
    expect(receiver.received(path)).toHaveLength(2);
    expect(await host.query('SELECT FROM parked_events')).toEqual([]);
    await waitFor('readiness', async () => (await detailsOf(worker)) === 'ready');
  });

  itWithEach('an API answers 503 with Retry-After, and works again', async (fault) => {
    const workspace = await host.make.workspace();
    const { key } = await host.make.apiKey(workspace);
    const api = await start('api');
    // One connection for all requests: a process at its file limit accepts no other.
    const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
    const list = () =>
      axios.get(`${api.url}/api/v1/conversations`, {
        httpAgent,
        headers: { authorization: `Bearer ${key}` },
        validateStatus: null,
        proxy: false,
      });
    expect((await list()).status).toBe(200);

    await begin(fault, api);
    for (let n = 0; n < 3; n++) {
      const { status, data, headers } = await list();
      expect([status, data.error.code]).toEqual([503, 'UNAVAILABLE']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    // A probe's result is kept for a second.
    if (fault.detail !== null) {
      await waitFor('a probe of the fault', async () => (await detailsOf(api)) !== 'ready');
      expect(await detailsOf(api)).toEqual([{ field: 'database', message: fault.detail }]);
    }

    await fault.end(api);
    expect((await list()).status).toBe(200);
    await waitFor('readiness', async () => (await detailsOf(api)) === 'ready');
    httpAgent.destroy();
  });

  // Only root on Linux may make one, and not in every container.
  const canUnshare = spawnSync('unshare', ['--net', 'true']).status === 0;
  describeWith('the right to make a network namespace', canUnshare, 'no network', () => {
    it('the CLI says that the database is unavailable', async () => {
      const environment = { ...environmentOf(stores), PATH: process.env.PATH };
      const list = ['api-key', 'list', '--workspace', 'x'];
      const args = ['--net', process.execPath, CLI, ...list];
      const failure = await runProgram('unshare', args, { env: environment }).catch((error: Error) => error);
      const { stderr } = (failure as Error).cause as { stderr: string };
      expect(JSON.parse(stderr)).toMatchObject({
        error: {
          code: 'UNAVAILABLE',
          message: expect.stringMatching(/^The database does not answer: .*ENETUNREACH/),
        },
      });
    });
  });
});
