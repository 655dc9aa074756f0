import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pkg from '../../package.json';
import { runProgram } from '../support/run-program';
import { createStores, dropStores, TestStores } from '../support/test-database';

const ROOT = resolve(__dirname, '../..');
/** Packages that the host and the package must share: with two copies of one, injection finds nothing. */
const SHARED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  '@nestjs/typeorm',
  'reflect-metadata',
  'rxjs',
  'typeorm',
] as const;

jest.setTimeout(300_000);

describe('the package, installed into another Nest application', () => {
  let host: string;
  let stores: TestStores;
  let hostStores: TestStores;

  beforeAll(async () => {
    host = mkdtempSync(join(tmpdir(), 'messaging-host-'));
    stores = await createStores();
    hostStores = await createStores();
    const { stdout } = await runProgram(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', host],
      { cwd: ROOT },
    );
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    writeHost(host, filename);
    const installation = [
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--omit=optional',
    ];
    await runProgram('npm', ['install', ...installation], { cwd: host });
    const compiler = resolve(ROOT, 'node_modules/typescript/bin/tsc');
    await runProgram(process.execPath, [compiler, '-p', '.'], { cwd: host });
  });

  afterAll(async () => {
    await dropStores(stores);
    await dropStores(hostStores);
    rmSync(host, { recursive: true });
  });

  it('has services whose types offer no method that needs a transaction of the service', () => {
    const dist = join(host, 'node_modules', pkg.name, 'dist');
    const entryPoints = ['index.d.ts', 'index-logins.d.ts', 'index-http.d.ts'];
    const exported = entryPoints.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
    const services = [...exported.matchAll(/from '(.*\.service)'/g)].map(([, path]) => `${path!}.d.ts`);
    expect(services.length).toBeGreaterThan(20);
    const leaking = services.filter((file) => /\bTransaction\b/.test(readFileSync(join(dist, file), 'utf8')));
    expect(leaking).toEqual([]);
  });

  it('is imported by an ES module through each of its entry points', async () => {
    const { stdout } = await runProgram(process.execPath, ['dist/module.mjs'], { cwd: host });
    expect(JSON.parse(stdout)).toEqual(['MessagingModule', 'LoginsService', 'HealthApiModule']);
  });

  it('brings no server of its own, and runs nothing when it is installed', () => {
    const manifest = readJson(join(host, 'node_modules', pkg.name, 'package.json')) as typeof pkg;
    expect(manifest).not.toHaveProperty('optionalDependencies');
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)/.test(name)),
    ).toEqual([]);
    const { packages } = readJson(join(host, 'package-lock.json')) as Lock;
    const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));
    expect(names.filter((name) => /embedded|postgresql/.test(name))).toEqual([]);
    const withScripts = names.filter((_, n) => Object.values(packages)[n]!.hasInstallScript);
    // These packages come with others and none needs them: a counter of downloads, and a native part with a
    // fallback.
    expect(withScripts.sort()).toEqual(['@scarf/scarf', 'msgpackr-extract']);
  });

  it('says clearly that passwords can not be hashed without the optional packages', async () => {
    const { stdout } = await runProgram(process.execPath, ['-e', LOG_IN], {
      cwd: host,
      env: environmentOn(stores),
    });
    expect(JSON.parse(stdout)).toEqual({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('@node-rs/argon2'),
    });
  });

  it('creates a key and an endpoint through the services, and adds nothing to its host', async () => {
    const { stdout, stderr } = await runProgram(process.execPath, ['dist/main.js'], {
      cwd: host,
      env: { ...environmentOn(stores), HOST_DATABASE_URL: hostStores.databaseAdminUrl },
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      key: expect.stringMatching(/^plk_[0-9A-Za-z]{40}$/),
      endpoint: expect.objectContaining({
        url: 'https://9.9.9.9/hook',
        active: true,
        secret: expect.stringMatching(/^whsec_/),
      }),
      routes: ['/ping'],
      answers: { '/ping': 200, '/api/v1/me': 404, '/health/live': 404, '/docs': 404 },
      hostEntities: ['dashboard_notes'],
      notes: [{ id: 1, text: 'kept beside it' }],
      unknownWorkspace: 'NOT_FOUND',
      badOptions: [
        'DATABASE_URL: must be a postgresql:// address',
        expect.stringContaining('SECRETS_KEYS: must be set'),
      ],
    });
  });
});

interface Lock {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

/** Returns the environment of a host on a database and Redis. */
function environmentOn({ databaseUrl, redisUrl }: TestStores): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SECRETS_KEYS: `host:${Buffer.alloc(32, 1).toString('base64')}`,
  };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Program of a host without optional packages that uses a password. */
const LOG_IN = `
const { NestFactory } = require('@nestjs/core');
const { MessagingModule } = require('${pkg.name}');
const { LoginsService } = require('${pkg.name}/logins');
const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SECRETS_KEYS: secretsKeys } = process.env;
void (async () => {
  const module = MessagingModule.forRoot({ databaseUrl, redisUrl, secretsKeys });
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const input = { email: 'ada@example.com', password: 'whatever it is' };
  const error = await app.get(LoginsService, { strict: false }).logIn(input).catch((refusal) => refusal);
  console.log(JSON.stringify({ code: error.code, message: error.message }));
  await app.close();
})();`;

/** ES module of the host. It names one value and one type of each entry point. */
const MODULE = `
import { type Page, MessagingModule } from '${pkg.name}';
import { type Person, LoginsService } from '${pkg.name}/logins';
import { type HttpOptions, HealthApiModule } from '${pkg.name}/http';

export type Named = Page<Person> | HttpOptions;
console.log(JSON.stringify([MessagingModule, LoginsService, HealthApiModule].map(({ name }) => name)));`;

/** Writes the host's files: its program, and the files of an application that Nest's own tools generate. */
function writeHost(folder: string, tarball: string): void {
  const shared = Object.fromEntries(SHARED.map((name) => [name, pkg.dependencies[name]]));
  writeJson(join(folder, 'package.json'), {
    name: 'dashboard-backend',
    private: true,
    dependencies: { ...shared, [pkg.name]: `file:./${tarball}` },
    devDependencies: { '@types/node': pkg.devDependencies['@types/node'] },
  });
  writeJson(join(folder, 'tsconfig.json'), {
    compilerOptions: {
      module: 'nodenext',
      target: 'ES2023',
      strict: true,
      strictPropertyInitialization: false,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      skipLibCheck: false,
      declaration: true,
      types: ['node'],
      outDir: 'dist',
    },
    files: ['main.ts', 'module.mts'],
  });
  copyFileSync(resolve(__dirname, '../fixtures/dashboard-backend/main.ts'), join(folder, 'main.ts'));
  writeFileSync(join(folder, 'module.mts'), MODULE);
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, JSON.stringify(value, null, 2));
}
