import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pkg from '../../package.json';

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((file) => `.github/workflows/${file}`);
const CI = '.github/workflows/ci.yml';

/** Returns the first group of each match. */
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);

describe.each(WORKFLOWS)('%s', (path) => {
  it('names actions of others by the hash of a commit, beside which the version stands', () => {
    const actions = all(read(path), /uses: (.*)/g).filter((action) => !action.startsWith('./'));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))).toEqual([]);
  });

  it('runs scripts that exist', () => {
    const scripts = all(read(path), /npm run (?:--silent )?([\w:-]+)/g);
    const files = all(read(path), /node (scripts\/[\w./-]+)/g);
    expect(scripts.filter((name) => !Object.hasOwn(pkg.scripts, name))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

it('runs on each change what .ci/run runs', () => {
  const [install] = all(read('README.md'), /^(npm install .*) && npm test$/gm);
  expect(read(CI)).toContain(`run: ${install} && npm test\n`);
  const commands = (path: string) =>
    all(read(path), /((?:npm run (?:--silent )?test:|node scripts\/demo)\S*)/g);
  const plain = (command: string) => command.replace('--silent ', '');
  expect(commands(CI).map(plain)).toEqual(commands('.ci/run').map(plain));
});

it('publishes every package that is not private, and no other', () => {
  const folders = ['.', ...pkg.workspaces.map((folder) => `./${folder}`)].filter(
    (folder) => !(JSON.parse(read(`${folder}/package.json`)) as { private?: boolean }).private,
  );
  const [packed] = all(read('.github/workflows/release.yml'), /npm pack .*--pack-destination packages (.*)/g);
  expect(packed!.split(' ')).toEqual(folders);
});

it('has one opinion of Node: what packages demand, what is tested, what images run, what nvm installs', () => {
  const tested = all(read(CI), /node: \[(.*)\]/g).flatMap((list) => list.split(', '));
  expect(pkg.engines.node).toMatch(new RegExp(`^>=${tested[0]}\\.`));
  const run = read('.nvmrc').trim();
  expect(tested).toContain(run);
  for (const dockerfile of ['Dockerfile', 'dashboard/Dockerfile'])
    expect(all(read(dockerfile), /^ARG NODE_IMAGE=node:(\d+)\./gm)).toEqual([run]);
});

it('marks updates of the packages whose private parts are used', () => {
  const page = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith('internals-we-rely-on.md'),
  );
  const used = new Set(all(read(`docs/${page!}`), /^\| `([\w@/-]+)` \d/gm));
  const { packageRules } = JSON.parse(read('.github/renovate.json')) as { packageRules: Rule[] };
  const marked = packageRules.find(({ addLabels }) => addLabels?.includes('internals'));
  expect(marked?.matchPackageNames.toSorted()).toEqual([...used].sort());
});

interface Rule {
  addLabels?: string[];
  matchPackageNames: string[];
}
