import { execFile, ExecFileOptions } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Role } from '../../src/config/environment';
import { environmentOf, ServiceProcess } from '../support/service-process';
import { direct, TestStores } from '../support/test-database';

const CHECKOUT = resolve(__dirname, '../..');

/** A build of the service, in a folder of its own. */
export class Version {
  private constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  /** The one of the checkout. */
  static readonly present = new Version('the present version', CHECKOUT);

  /**
   * Builds the commit of `UPGRADE_FROM`, or else the one before the newest migration was added, so that an
   * upgrade from it has something to migrate.
   */
  static async before(): Promise<Version> {
    const commit = await commitBefore();
    const folder = mkdtempSync(join(tmpdir(), 'messaging-version-before-'));
    const version = new Version(`the version before (${commit.slice(0, 10)})`, folder);
    try {
      await build(commit, folder);
    } catch (error) {
      version.remove();
      throw error;
    }
    return version;
  }

  /**
   * Returns the stores for a version. In versions before the two database roles, the owner is the only role.
   */
  storesFrom({ databaseUrl, databaseOwnerUrl, ...stores }: TestStores): TestStores {
    const variables = readFileSync(join(this.folder, 'src/config/environment.ts'), 'utf8');
    return variables.includes('DATABASE_OWNER_URL')
      ? { ...stores, databaseUrl, databaseOwnerUrl }
      : { ...stores, databaseUrl: databaseOwnerUrl ?? databaseUrl };
  }

  start(
    role: Role,
    stores: TestStores,
    env: Record<string, string>,
    logFile: string,
  ): Promise<ServiceProcess> {
    const main = join(this.folder, 'dist/main.js');
    return ServiceProcess.start(role, this.storesFrom(stores), env, { main, logFile });
  }

  /** Runs a command of its CLI, and returns what it prints. */
  async cli(stores: TestStores, env: Record<string, string>, ...args: string[]): Promise<any> {
    const own = this.storesFrom(stores);
    // Migrations do not go through a pooler.
    const past = { DATABASE_DIRECT_URL: direct(own.databaseOwnerUrl ?? own.databaseUrl) };
    const options = { env: { ...environmentOf(own), ...past, ...env } };
    return JSON.parse(await run(process.execPath, [join(this.folder, 'dist/cli.js'), ...args], options));
  }

  /** Removes the build, unless it is that of the checkout. */
  remove(): void {
    if (this.folder !== CHECKOUT) rmSync(this.folder, { recursive: true });
  }
}

async function commitBefore(): Promise<string> {
  const { UPGRADE_FROM } = process.env;
  const newest = ['log', '-1', '--format=%H', '--diff-filter=A', '--', 'migrations/*.ts'];
  try {
    return await git('rev-parse', '--verify', `${UPGRADE_FROM ?? `${await git(...newest)}^`}^{commit}`);
  } catch (error) {
    throw new Error(
      'The version before is built from git, whose history lacks it. Fetch the history (git fetch --unshallow), or name ' +
        `a commit: UPGRADE_FROM=<commit>. ${(error as Error).message}`,
    );
  }
}

async function build(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'source.tar');
  await git('archive', `--output=${archive}`, commit);
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`]);
  await provideModules(folder);
  await run('npm', ['run', '--silent', 'build'], { cwd: folder });
}

/** The checkout's packages if the version needs the same ones. */
async function provideModules(folder: string): Promise<void> {
  const lockOf = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(CHECKOUT))
    symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: CHECKOUT })).trim();
}

/** @returns what it prints, which is a part of the error, too: compilers explain themselves there */
async function run(command: string, args: string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { ...options, encoding: 'utf8' })).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`);
  }
}
