import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, matchesGlob, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import lock from '../../package-lock.json';
import pkg from '../../package.json';
import widget from '../../widget/package.json';

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface LockedPackage {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
const LOCKED = lock.packages as Record<string, LockedPackage | undefined>;

/** The image's two installations, and its build, from what the Dockerfile and .dockerignore say. */
describe('the image', () => {
  it('has none of the packages that build the widget, nor those of the tests', () => {
    const installed = installedFor(Object.keys(pkg.dependencies));
    expect(installed.size).toBeGreaterThan(100);
    expect(installed).toContain('@nestjs/core');
    const unwanted = Object.keys({ ...pkg.devDependencies, ...widget.devDependencies });
    expect(unwanted).toEqual(expect.arrayContaining(['preact', 'vite', 'playwright-core']));
    expect(unwanted.filter((name) => installed.has(name))).toEqual([]);
    expect(widget).not.toHaveProperty('dependencies');
    const installation = stageOf('dependencies').find((line) => line.startsWith('RUN npm install'));
    expect(installation).toMatch(/--omit=dev .*--workspaces=false/);
  });

  it('is built from what its build stage copies, with the same files as here', async () => {
    const stage = mkdtempSync(join(tmpdir(), 'messaging-image-'));
    try {
      copyAsIn(stageOf('build'), stage);
      symlinkSync(join(ROOT, 'node_modules'), join(stage, 'node_modules'));
      // As in the image: Jest's own NODE_ENV would make another widget.
      const env = { ...process.env, NODE_ENV: undefined };
      await promisify(execFile)('npm', ['run', 'build'], { cwd: stage, env });
      const built = filesIn(join(stage, 'dist'));
      expect(built).toEqual(expect.arrayContaining(['main.js', 'cli.js', 'widget/v1.js']));
      expect(built).toEqual(filesIn(join(ROOT, 'dist')));
    } finally {
      rmSync(stage, { recursive: true });
    }
  }, 180_000);
});

/** The names of packages, and of all that they need in their place of the lock file. */
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

/** As Node looks for a package: the nearest `node_modules` that has it. */
function placeOf(name: string, from: string): string {
  const place = `${from && `${from}/`}node_modules/${name}`;
  if (LOCKED[place]) return place;
  if (from === '') throw new Error(`package-lock.json has no ${name}`);
  return placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
}

/** The instructions of a stage of the Dockerfile. */
function stageOf(name: string): string[] {
  const lines = read('Dockerfile').split('\n');
  const start = lines.findIndex((line) => line.endsWith(` AS ${name}`));
  const end = lines.findIndex((line, index) => index > start && line.startsWith('FROM '));
  return lines.slice(start + 1, end);
}

/** Does what the stage's COPY instructions do, without what .dockerignore leaves out. */
function copyAsIn(instructions: string[], folder: string): void {
  const copies = instructions
    .filter((line) => line.startsWith('COPY '))
    .map((line) => line.split(' ').slice(1));
  for (const paths of copies) {
    const target = paths.at(-1)!;
    for (const source of paths.slice(0, -1)) {
      // A file goes into the folder that is named, and a folder becomes it.
      const to = target.endsWith('/') ? join(folder, target, basename(source)) : join(folder, target);
      cpSync(join(ROOT, source), to, { recursive: true, filter: (path) => isSent(relative(ROOT, path)) });
    }
  }
}

/** Whether Docker gets a file to copy: the last rule of .dockerignore that matches decides. */
function isSent(path: string): boolean {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const matching = rules.filter((rule) => {
    const pattern = rule.replace(/^!/, '');
    return matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);
  });
  return matching.at(-1)?.startsWith('!') ?? true;
}

/** Their paths, without the build's notes for itself. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.tsbuildinfo')
    .map((entry) => join(relative(folder, entry.parentPath), entry.name))
    .sort();
}
