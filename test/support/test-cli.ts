import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { createStores, dropStores, setting, TestStores } from './test-database';
import { CommandResult, WarmCli } from './warm-cli';
import { forgetStop, stopAtEnd } from './stop-at-end';

export const CLI = resolve(__dirname, '../../dist/cli.js');

export const OLD_KEY = `old:${randomBytes(32).toString('base64')}`;
export const NEW_KEY = `new:${randomBytes(32).toString('base64')}`;
/** An id that belongs to nothing. */
export const NOWHERE = '01900000-0000-7000-8000-000000000000';
export const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
);
export const ISO_TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/**
 * The built CLI with a database of its own, which has the workspace `acme`, and a working directory of its
 * own.
 */
export class TestCli {
  private constructor(
    readonly stores: TestStores,
    readonly folder: string,
    readonly env: Record<string, string>,
    private readonly warm: WarmCli,
  ) {}

  static async start(): Promise<TestCli> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-cli-'));
    const [stores, warm] = await Promise.all([createStores(), WarmCli.start(folder)]);
    const env = {
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      SECRETS_KEYS: OLD_KEY,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
    };
    const cli = new TestCli(stores, folder, env, warm);
    await cli.call('workspace', 'create', '--name', 'Acme', '--slug', 'acme', '--plan', 'PRO');
    return stopAtEnd(cli, () => cli.stop());
  }

  /** Returns the one JSON object that a command prints. */
  call(...args: string[]): Promise<any> {
    return printed(args, this.warm.run(this.env, ...args));
  }

  /** Returns the one JSON object that a command prints in a process of its own. */
  callIn(environment: Record<string, string>, ...args: string[]): Promise<any> {
    return printed(args, this.run(environment, ...args));
  }

  /** Returns the error that a command ends with. */
  refusal(...args: string[]): Promise<any> {
    return refused(args, this.warm.run(this.env, ...args));
  }

  /** Returns the error that a command ends with in a process of its own. */
  refusalIn(environment: Record<string, string>, ...args: string[]): Promise<any> {
    return refused(args, this.run(environment, ...args));
  }

  /** Runs a command as a process of its own, with exactly this environment. */
  run(environment: Record<string, string>, ...args: string[]): Promise<CommandResult> {
    return this.runWith('', environment, ...args);
  }

  /** Runs a command as a process of its own, with `stdin` to read. */
  runWith(stdin: string, environment: Record<string, string>, ...args: string[]): Promise<CommandResult> {
    const options = { cwd: this.folder, env: { PATH: process.env.PATH, NODE_ENV: 'test', ...environment } };
    return new Promise((done) => {
      const child = execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) =>
        done({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
      child.stdin!.end(stdin);
    });
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    await this.warm.stop();
    await dropStores(this.stores);
    rmSync(this.folder, { recursive: true });
  }
}

/** Runs a query on a connection that ends with the answer. */
export async function query<Row>(
  databaseUrl: string,
  sql: string,
  parameters: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql, parameters)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function printed(args: string[], result: Promise<CommandResult>): Promise<any> {
  const { code, stdout, stderr } = await result;
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
}

async function refused(args: string[], result: Promise<CommandResult>): Promise<any> {
  const { code, stdout, stderr } = await result;
  expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
  const { error, ...rest } = JSON.parse(stderr);
  expect(rest).toEqual({});
  return error;
}
