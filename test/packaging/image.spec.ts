import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, matchesGlob, relative, resolve } from 'node:path';
import dashboard from '../../dashboard/package.json';
import lock from '../../package-lock.json';
import pkg from '../../package.json';
import widget from '../../widget/package.json';
import { runProgram } from '../support/run-program';

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface LockedPackage {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
const LOCKED = lock.packages as Record<string, LockedPackage | undefined>;

/**
 * Tests of the images' two installations and of their builds, by what the Dockerfiles and the .dockerignore
 * files say.
 */
describe('the image', () => {
  it("does not have Swagger's page, which nothing loads", async () => {
    for (const dockerfile of ['Dockerfile', 'dashboard/Dockerfile'])
      expect(stageOf(dockerfile, 'dependencies')).toContain('RUN rm -r node_modules/swagger-ui-dist');
    const page = join('node_modules', 'swagger-ui-dist');
    const program = `
      for (const file of ['./dist/app/create-app.js', './dashboard/dist/server/create-app.js']) require(file);
      process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
    const { stdout } = await runProgram('node', ['-e', program], { cwd: ROOT, maxBuffer: 4 * 1024 * 1024 });
    const loaded = JSON.parse(stdout) as string[];
    expect(loaded).toEqual(expect.arrayContaining([expect.stringContaining(join('@nestjs', 'core'))]));
    expect(loaded.filter((file) => file.includes(page))).toEqual([]);
  });

  describe('of the service', () => {
    const image = { dockerfile: 'Dockerfile', ignore: '.dockerignore' };

    it('has none of the packages that build the widget or the dashboard, nor those of the tests', () => {
      const installed = installedFor(Object.keys(pkg.dependencies));
      expect(installed.size).toBeGreaterThan(100);
      expect(installed).toContain('@nestjs/core');
      const own = Object.keys(dashboard.dependencies).filter((name) => !(name in pkg.dependencies));
      const unwanted = [
        ...toolsOf({ ...pkg.devDependencies, ...widget.devDependencies, ...dashboard.devDependencies }),
        ...own,
      ];
      expect(unwanted).toEqual(
        expect.arrayContaining(['preact', 'vite', 'playwright-core', 'react', '@mantine/core', 'helmet']),
      );
      expect(unwanted.filter((name) => installed.has(name))).toEqual([]);
      expect(widget).not.toHaveProperty('dependencies');
      const installation = installationOf(image);
      expect(installation).toMatch(/--omit=dev --workspaces=false/);
      // The native parts of `sharp` are optional packages.
      expect(installation).not.toContain('--omit=optional');
    });

    it('is built from what its build stage copies, with the same files as here', async () => {
      await inBuildStage(image, (stage) => {
        const built = filesIn(join(stage, 'dist'));
        expect(built).toEqual(expect.arrayContaining(['main.js', 'cli.js', 'widget/v1.js']));
        expect(built).toEqual(filesIn(join(ROOT, 'dist')));
      });
    }, 300_000);
  });

  describe('of the dashboard', () => {
    const image = { dockerfile: 'dashboard/Dockerfile', ignore: 'dashboard/Dockerfile.dockerignore' };

    it('has what hashes passwords, and none of the packages that build the page', () => {
      const installed = installedFor(Object.keys({ ...pkg.dependencies, ...dashboard.dependencies }));
      expect([...installed]).toEqual(expect.arrayContaining(['@node-rs/argon2', 'helmet', 'typeorm']));
      const unwanted = toolsOf({ ...pkg.devDependencies, ...dashboard.devDependencies });
      expect(unwanted.filter((name) => installed.has(name))).toEqual([]);
      const installation = installationOf(image);
      expect(installation).toMatch(/--omit=dev --workspace dashboard/);
      expect(installation).not.toContain('--omit=optional');
      // Only the workspace scripts/servers, which is not installed, depends on the embedded PostgreSQL.
      expect([pkg, dashboard].filter((manifest) => 'optionalDependencies' in manifest)).toEqual([]);
    });

    it('is built from what its build stage copies, with the same files as here', async () => {
      await inBuildStage(image, (stage) => {
        const built = filesIn(join(stage, 'dashboard/dist'));
        expect(built).toEqual(expect.arrayContaining(['server/main.js', 'web/index.html']));
        expect(built).toEqual(filesIn(join(ROOT, 'dashboard/dist')));
      });
    }, 300_000);
  });
});

/**
 * Names packages except types: the types that the package's own declarations need are among its dependencies.
 */
function toolsOf(dependencies: Record<string, string>): string[] {
  return Object.keys(dependencies).filter((name) => !name.startsWith('@types/'));
}

interface Image {
  dockerfile: string;
  ignore: string;
}

/** Returns the instruction that installs the packages for running. */
function installationOf({ dockerfile }: Image): string {
  return stageOf(dockerfile, 'dependencies').find((line) => line.startsWith('RUN npm ci'))!;
}

/** Repeats the build stage in a folder of its own, with the packages of this checkout. */
async function inBuildStage(image: Image, check: (stage: string) => void): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'messaging-image-'));
  try {
    const instructions = stageOf(image.dockerfile, 'build');
    copyAsIn(instructions, image.ignore, stage);
    for (const folder of ['.', 'dashboard'])
      if (existsSync(join(stage, folder)) && existsSync(join(ROOT, folder, 'node_modules')))
        symlinkSync(join(ROOT, folder, 'node_modules'), join(stage, folder, 'node_modules'));
    // NODE_ENV is unset as in the image: with Jest's own value, the build would make other scripts.
    const env = { ...process.env, NODE_ENV: undefined };
    const builds = instructions.filter((line) => line.startsWith('RUN npm run'));
    expect(builds).toHaveLength(1);
    await runProgram('sh', ['-c', builds[0]!.replace('RUN ', '')], { cwd: stage, env });
    check(stage);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** Returns the names of packages, and of everything that they need in their place of the lock file. */
function installedFor(names: string[], from = '', found = new Map<string, string>()): Set<string> {
  for (const name of names) {
    const place = placeOf(name, from);
    if (found.has(place)) continue;
    found.set(place, name);
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = LOCKED[place]!;
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
    installedFor([...Object.keys(dependencies), ...peers], place, found);
  }
  return new Set(found.values());
}

/** Returns the place where Node finds a package: in the nearest `node_modules` that has it. */
function placeOf(name: string, from: string): string {
  const place = `${from && `${from}/`}node_modules/${name}`;
  if (LOCKED[place]) return place;
  if (from === '') throw new Error(`package-lock.json has no ${name}`);
  return placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
}

/** Returns the instructions of a stage of a Dockerfile. */
function stageOf(dockerfile: string, name: string): string[] {
  const lines = read(dockerfile).replaceAll('\\\n', '').split('\n');
  const start = lines.findIndex((line) => line.endsWith(` AS ${name}`));
  const end = lines.findIndex((line, index) => index > start && line.startsWith('FROM '));
  return lines.slice(start + 1, end);
}

/** Does what the stage's COPY instructions do, without ignored files. */
function copyAsIn(instructions: string[], ignore: string, folder: string): void {
  const rules = read(ignore)
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const copies = instructions
    .filter((line) => line.startsWith('COPY '))
    .map((line) => line.split(' ').slice(1));
  for (const paths of copies) {
    const target = paths.at(-1)!;
    for (const source of paths.slice(0, -1)) {
      // A file goes into the named folder, but a folder's content does so without the folder.
      const to = target.endsWith('/') ? join(folder, target, basename(source)) : join(folder, target);
      cpSync(join(ROOT, source), to, {
        recursive: true,
        filter: (path) => isSent(relative(ROOT, path), rules),
      });
    }
  }
}

/** Reports whether Docker gets a file to copy: the last matching rule decides. */
function isSent(path: string, rules: string[]): boolean {
  const matching = rules.filter((rule) => {
    const pattern = rule.replace(/^!/, '');
    return matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);
  });
  return matching.at(-1)?.startsWith('!') ?? true;
}

/** Returns the paths of a folder's files. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(relative(folder, entry.parentPath), entry.name))
    .sort();
}
