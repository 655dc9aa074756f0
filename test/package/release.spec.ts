import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pkg from '../../package.json';
import { describeWithGit } from '../support/project-files';
import { runProgram } from '../support/run-program';

const ROOT = resolve(__dirname, '../..');
const MANIFESTS = ['package.json', ...pkg.workspaces.map((folder) => `${folder}/package.json`)];

/** Tests of `npm run release`, in a repository with this project's manifests. */
describeWithGit('a release', () => {
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'messaging-release-'));
    for (const path of [...MANIFESTS, 'package-lock.json']) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(ROOT, path), join(folder, path));
    }
    write('CHANGELOG.md', '# Changelog\n\nIts form.\n');
    write('changes/README.md', 'How to write one.\n');
    await git('init', '--quiet', '--initial-branch=main');
    await git('config', 'user.name', 'Ada');
    await git('config', 'user.email', 'ada@example.com');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (path: string) => readFileSync(join(folder, path), 'utf8');

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  async function git(...parameters: string[]): Promise<string> {
    return (await runProgram('git', parameters, { cwd: folder })).stdout;
  }

  async function commit(changes: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(changes)) write(`changes/${name}`, text);
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Change things');
  }

  async function release(...parameters: string[]): Promise<string> {
    const script = join(ROOT, 'scripts/release.mjs');
    return (await runProgram(process.execPath, [script, ...parameters], { cwd: folder })).stdout;
  }

  const versions = () =>
    new Set([
      ...MANIFESTS.map((path) => (JSON.parse(read(path)) as typeof pkg).version),
      ...Object.entries((JSON.parse(read('package-lock.json')) as Lock).packages)
        .filter(([path]) => path === '' || pkg.workspaces.includes(path))
        .map(([, { version }]) => version),
    ]);

  it('writes the changes into the changelog, sets every version, and makes a commit with its tag', async () => {
    await commit({ 'first.added.md': 'The first thing,\nin two lines.\n' });
    await release();
    const today = new Date().toISOString().slice(0, 10);
    const first = `## [${pkg.version}], ${today}\n\n### Added\n\n- The first thing,\n  in two lines.\n`;
    expect(read('CHANGELOG.md')).toBe(`# Changelog\n\nIts form.\n\n${first}`);

    await commit({
      'b.fixed.md': 'A fault.\n',
      'a.fixed.md': 'Another fault.\n',
      'key.security.md': 'A [key](../README.md).\n',
    });
    await release();
    const next = pkg.version.replace(/\d+$/, (patch) => `${Number(patch) + 1}`);
    const second = `## [${next}], ${today}

### Fixed

- Another fault.
- A fault.

### Security

- A [key](README.md).
`;
    expect(read('CHANGELOG.md')).toBe(`# Changelog\n\nIts form.\n\n${second}\n${first}`);
    expect(readdirSync(join(folder, 'changes'))).toEqual(['README.md']);
    expect(versions()).toEqual(new Set([next]));
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('tag', '--points-at', 'HEAD')).toBe(`v${next}\n`);
    await release('--check', `v${next}`);
    await expect(release('--check', `v${pkg.version}`)).rejects.toThrow('package.json');
  });

  it.each([
    ['0.9.3', 'fixed', '0.9.4'],
    ['0.9.3', 'removed', '0.10.0'],
    ['1.9.3', 'changed', '1.10.0'],
    ['1.9.3', 'removed', '2.0.0'],
  ])('after %s is for something %s at least %s', async (last, kind, next) => {
    write('CHANGELOG.md', `# Changelog\n\n## [${last}], 2026-11-01\n`);
    await commit({ [`thing.${kind}.md`]: 'A thing.\n' });
    expect(await release('--dry-run')).toContain(`## [${next}]`);
    expect(await release('--dry-run', '3.0.0')).toContain('## [3.0.0]');
    await expect(release('--dry-run', last)).rejects.toThrow(`the release is ${next}`);
    expect(await git('status', '--porcelain')).toBe('');
  });

  it('is refused without a change, with one of an unknown kind, and beside uncommitted work', async () => {
    await commit({});
    await expect(release()).rejects.toThrow('nothing to release');
    await commit({ 'thing.improved.md': 'A thing.\n' });
    await expect(release()).rejects.toThrow('thing.improved.md');
    await git('mv', 'changes/thing.improved.md', 'changes/thing.changed.md');
    await expect(release()).rejects.toThrow('Commit or remove');
  });
});

interface Lock {
  packages: Record<string, { version?: string }>;
}

it('will find changes of known kinds only, whose links lead to files', () => {
  const names = readdirSync(join(ROOT, 'changes')).filter((name) => name !== 'README.md');
  const known = /^[\w-]+\.(added|changed|deprecated|removed|fixed|security)\.md$/;
  expect(names.filter((name) => !known.test(name))).toEqual([]);
  const texts = names.map((name) => readFileSync(join(ROOT, 'changes', name), 'utf8'));
  const links = texts.flatMap((text) =>
    [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!),
  );
  expect(links.filter((link) => !existsSync(join(ROOT, 'changes', link)))).toEqual([]);
});
