import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Kinds of changes, as Keep a Changelog names and orders them, with the part of the version that each raises.
 *
 * @type {Record<string, 'major' | 'minor' | 'patch'>}
 */
const PART_OF_KIND = {
  added: 'minor',
  changed: 'minor',
  deprecated: 'minor',
  removed: 'major',
  fixed: 'patch',
  security: 'patch',
};
const CHANGELOG = 'CHANGELOG.md';
const CHANGES = 'changes';
const LOCK = 'package-lock.json';

const HELP = `Makes a release: one version for the service, its package, the client, the widget and the dashboard. The files in
${CHANGES}/ become a section of ${CHANGELOG}, and the commit gets a tag.

  npm run release                     takes the next version by the kinds of the changes
  npm run release -- 1.0.0            takes a higher one
  npm run release -- --dry-run        prints the section, and writes nothing
  npm run release -- --check v1.0.0   fails if this commit is not that release`;

/** @typedef {{ kind: string, name: string, text: string }} Change */

/** Reason why there is no release, for the person who asked for one. */
class Refusal extends Error {}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    check: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

try {
  if (values.help) console.log(HELP);
  else if (values.check) requireReleased(values.check);
  else release(positionals[0], values['dry-run']);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/**
 * Writes the section, the versions, a commit and its tag.
 *
 * @param {string | undefined} asked version
 * @param {boolean} isDry
 */
function release(asked, isDry) {
  const changes = readChanges();
  if (changes.length === 0) throw new Refusal(`${CHANGES}/ has no change: there is nothing to release.`);
  const next = nextVersion(changes);
  const version = asked ?? next;
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Refusal(`${version} is no version, such as 1.2.3.`);
  if (version.localeCompare(next, 'en', { numeric: true }) < 0)
    throw new Refusal(`${version} is too low: by its changes the release is ${next}.`);

  const section = sectionOf(version, changes);
  if (isDry) {
    console.log(section);
    return;
  }
  if (git('status', '--porcelain') !== '') throw new Refusal('Commit or remove your changes first.');
  addSection(section);
  for (const { name } of changes) rmSync(join(CHANGES, name));
  setVersion(version);
  git('add', '--all');
  git('commit', '--quiet', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Release ${version}`);
  console.log(`Made v${version}. To publish it: git push --follow-tags`);
}

/**
 * Throws unless the versions of this commit and its changelog are those of a tag.
 *
 * @param {string} tag
 */
function requireReleased(tag) {
  const version = tag.replace(/^v/, '');
  const others = manifests().filter((path) => readJson(path).version !== version);
  if (others.length > 0) throw new Refusal(`${others.join(', ')}: the version is not ${version}.`);
  if (lastRelease() !== version) throw new Refusal(`${CHANGELOG} does not begin with ${version}.`);
}

/**
 * Reads the changes since the last release, a file each: `<name>.<kind>.md`.
 *
 * @returns {Change[]}
 */
function readChanges() {
  const names = readdirSync(CHANGES).filter((name) => name !== 'README.md');
  return names.sort().map((name) => {
    const [, kind] = /^[\w-]+\.(\w+)\.md$/.exec(name) ?? [];
    if (!kind || !Object.hasOwn(PART_OF_KIND, kind))
      throw new Refusal(
        `${CHANGES}/${name}: name it <name>.<kind>.md, the kind one of ${kinds().join(', ')}.`,
      );
    // The changelog is a folder above: links lead from there.
    const text = readFileSync(join(CHANGES, name), 'utf8').trim().replaceAll('](../', '](');
    if (!text) throw new Refusal(`${CHANGES}/${name} is empty.`);
    return { kind, name, text };
  });
}

function kinds() {
  return Object.keys(PART_OF_KIND);
}

/**
 * Returns the least version after these changes. Before 1.0.0 a removal raises the minor version.
 *
 * @param {Change[]} changes
 */
function nextVersion(changes) {
  const last = lastRelease();
  if (!last) return readJson('package.json').version;
  const [major = 0, minor = 0, patch = 0] = last.split('.').map(Number);
  const parts = new Set(changes.map(({ kind }) => PART_OF_KIND[kind]));
  if (parts.has('major') && major > 0) return `${major + 1}.0.0`;
  if (parts.has('major') || parts.has('minor')) return `${major}.${minor + 1}.0`;
  return `${major}.${minor}.${patch + 1}`;
}

/** Returns the version of the changelog's first section, if it has one. */
function lastRelease() {
  return /^## \[(.+?)\]/m.exec(readFileSync(CHANGELOG, 'utf8'))?.[1];
}

/**
 * Returns the changelog's section of a version: the changes by kind, each as an item of a list.
 *
 * @param {string} version
 * @param {Change[]} changes
 */
function sectionOf(version, changes) {
  const lists = kinds().map((kind) => {
    const items = changes
      .filter((change) => change.kind === kind)
      .map(({ text }) => `- ${text.replaceAll('\n', '\n  ')}\n`);
    const title = kind[0]?.toUpperCase() + kind.slice(1);
    return items.length > 0 ? `\n### ${title}\n\n${items.join('')}` : '';
  });
  return `## [${version}], ${new Date().toISOString().slice(0, 10)}\n${lists.join('')}`;
}

/**
 * Puts a section above those of earlier releases.
 *
 * @param {string} section
 */
function addSection(section) {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  const first = changelog.indexOf('\n## [');
  const head = first < 0 ? changelog : changelog.slice(0, first + 1);
  const releases = first < 0 ? '' : changelog.slice(first);
  writeFileSync(CHANGELOG, `${head.trimEnd()}\n\n${section}${releases}`);
}

/** @param {string} version */
function setVersion(version) {
  for (const path of manifests()) writeJson(path, { ...readJson(path), version });
  const lock = readJson(LOCK);
  lock.version = version;
  for (const path of manifests())
    lock.packages[path === 'package.json' ? '' : path.replace('/package.json', '')].version = version;
  writeJson(LOCK, lock);
}

/** Returns the paths of the packages' manifests, which have one version. */
function manifests() {
  const { workspaces } = readJson('package.json');
  return ['package.json', ...workspaces.map((/** @type {string} */ folder) => `${folder}/package.json`)];
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * @param {string} path
 * @param {object} content
 */
function writeJson(path, content) {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** @param {string[]} parameters */
function git(...parameters) {
  return execFileSync('git', parameters, { encoding: 'utf8' });
}
