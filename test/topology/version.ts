import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Role } from '../../src/config/settings';
import { runProgram } from '../support/run-program';
import { environmentOf, ServiceProcess } from '../support/service-process';
import { direct, TestStores } from '../support/test-database';

const CHECKOUT = resolve(__dirname, '../..');
/** A migration of the baseline, with which the history of the schema begins. */
const BASELINE = 'migrations/1795392000000-workspaces.ts';

/** A build of the service, in a folder of its own. */
export class Version {
  private constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  /** Build of the checkout. */
  static readonly present = new Version('the present version', CHECKOUT);

  /**
   * Builds the commit of `UPGRADE_FROM`, or else the commit before the newest migration was added, so that an
   * upgrade from it has something to migrate. Before a migration follows the baseline, it builds the
   * baseline's own commit: no upgrade starts earlier.
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

  /** Number of migrations that the present version has and this one lacks. */
  get missingMigrations(): number {
    const own = migrationsIn(this.folder);
    return migrationsIn(CHECKOUT).filter((name) => !own.includes(name)).length;
  }

  start(
    role: Role,
    stores: TestStores,
    env: Record<string, string>,
    logFile: string,
  ): Promise<ServiceProcess> {
    const main = join(this.folder, 'dist/main.js');
    return ServiceProcess.start(role, stores, env, { main, logFile });
  }

  /** Runs a command of the version's CLI, and returns what it prints. */
  async cli(stores: TestStores, env: Record<string, string>, ...args: string[]): Promise<any> {
    // Migrations do not go through a pooler.
    const past = { DATABASE_DIRECT_URL: direct(stores.databaseOwnerUrl ?? stores.databaseUrl) };
    const options = { env: { ...environmentOf(stores), ...past, ...env } };
    const { stdout } = await runProgram(
      process.execPath,
      [join(this.folder, 'dist/cli.js'), ...args],
      options,
    );
    return JSON.parse(stdout);
  }

  /** Removes the build, unless it is that of the checkout. */
  remove(): void {
    if (this.folder !== CHECKOUT) rmSync(this.folder, { recursive: true });
  }
}

async function commitBefore(): Promise<string> {
  const added = (path: string) =>
    git('log', '-1', '--no-renames', '--format=%H', '--diff-filter=A', '--', path);
  try {
    const [newest, baseline] = [await added('migrations/*.ts'), await added(BASELINE)];
    const commit = process.env.UPGRADE_FROM ?? (newest === baseline ? baseline : `${newest}^`);
    return await git('rev-parse', '--verify', `${commit}^{commit}`);
  } catch (error) {
    throw new Error(
      'The version before is built from git, whose history lacks it. Fetch the history (git fetch --unshallow), or name ' +
        `a commit: UPGRADE_FROM=<commit>. ${(error as Error).message}`,
    );
  }
}

function migrationsIn(folder: string): string[] {
  return readdirSync(join(folder, 'migrations')).filter((name) => name.endsWith('.ts'));
}

async function build(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'source.tar');
  await git('archive', `--output=${archive}`, commit);
  await runProgram('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`]);
  await provideModules(folder);
  await runProgram('npm', ['run', '--silent', 'build'], { cwd: folder });
}

/** Provides the packages of a build: the checkout's if the version needs the same ones, otherwise its own. */
async function provideModules(folder: string): Promise<void> {
  const lockOf = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(CHECKOUT))
    symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  else await runProgram('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
}

async function git(...args: string[]): Promise<string> {
  return (await runProgram('git', args, { cwd: CHECKOUT })).stdout.trim();
}
