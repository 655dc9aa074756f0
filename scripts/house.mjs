import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

// Prints the figures of a checkout by which its size is watched: npm run house [-- <folder of the checkout>]

const MAX_LINES = 250;
const MAX_PARAMETERS = 6;
/** Words of the mechanisms for Citus, of which features need none. */
const CITUS =
  /isDivided|withinNodeShare|listPlaces|PlacedWork|spansWorkspaces|asOneRow|MOMENT\b|claimOnNode|[cC]itus/;

const root = resolve(process.argv[2] ?? '.');
const options = /** @type {const} */ ({ cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
const files = execFileSync('git', ['ls-files', 'src', 'dashboard', 'widget', 'client'], options)
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\.spec\.|\/test\/|\/generated\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  .map(({ file, text }) => ({ file, text, length: text.split('\n').length - 1 }));
const source = files.filter(({ file }) => file.startsWith('src/'));
/** @param {{ file: string }[]} some */
const namesOf = (some) => some.map(({ file }) => file);

/**
 * Returns the top folder of a file, or `dashboard` and the like for a file of another package.
 *
 * @param {string} file
 */
const roomOf = (file) =>
  /^src\/([^/]+)\//.exec(file)?.[1] ?? (file.startsWith('src/') ? '(top)' : (file.split('/')[0] ?? ''));

/**
 * Prints lines below a title with their number, the line with the highest first number first.
 *
 * @param {string} title
 * @param {string[]} lines
 */
function print(title, lines) {
  console.log(`\n${title}: ${lines.length}`);
  for (const line of lines.sort((a, b) => parseInt(b) - parseInt(a) || (a < b ? -1 : 1)))
    console.log(`  ${line}`);
}

/**
 * Prints the number of the groups of files and of the arrows between them, and the circles.
 *
 * @param {string} name
 * @param {(file: string) => string} groupOf
 * @param {{ source: string, dependencies: { resolved: string }[] }[]} modules of dependency-cruiser
 */
function printArrows(name, groupOf, modules) {
  const groups = [...new Set(source.map(({ file }) => groupOf(file)))];
  const arrows = new Set(
    modules
      .filter(({ source: file }) => file.startsWith('src/') && !file.includes('.spec.'))
      .flatMap(({ source: file, dependencies }) =>
        dependencies
          .filter(({ resolved }) => resolved.startsWith('src/') && groupOf(resolved) !== groupOf(file))
          .map(({ resolved }) => `${groupOf(file)} ${groupOf(resolved)}`),
      ),
  );
  const paths = new Set(arrows);
  for (const middle of groups)
    for (const from of groups)
      if (paths.has(`${from} ${middle}`))
        for (const to of groups) if (paths.has(`${middle} ${to}`)) paths.add(`${from} ${to}`);
  const circles = groups
    .filter((group) => paths.has(`${group} ${group}`))
    .map((group) => groups.filter((one) => paths.has(`${group} ${one}`) && paths.has(`${one} ${group}`)));
  console.log(`\n${name}: ${groups.length}, arrows: ${arrows.size}`);
  print(`circles of ${name}`, [...new Set(circles.map((circle) => circle.join(' ')))]);
}

/**
 * Returns a line for each class of a file whose constructor has many parameters.
 *
 * @param {{ file: string, text: string }} code
 */
function largeClassesOf({ file, text }) {
  /** @type {string[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isConstructorDeclaration(node) && node.parameters.length > MAX_PARAMETERS)
      found.push(`${node.parameters.length} ${file}`);
    node.forEachChild(visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return found;
}

/** @type {Map<string, number>} */
const lines = new Map();
for (const { file, length } of files) lines.set(roomOf(file), (lines.get(roomOf(file)) ?? 0) + length);
console.log(`lines of src without specs: ${source.reduce((sum, { length }) => sum + length, 0)}`);
const shown = [...lines].map(([room, count]) => `${count} ${room}`);
print('rooms and other packages, with their lines without specs', shown);

const cruise = ['src', '--no-config', '--ts-pre-compilation-deps', '--output-type', 'json'];
const { modules } = JSON.parse(execFileSync(resolve('node_modules/.bin/depcruise'), cruise, options));
printArrows('rooms', roomOf, modules);
printArrows('folders', dirname, modules);
const servers = files.filter(({ file }) => /^(src|dashboard\/server)/.test(file));
print(`classes with more than ${MAX_PARAMETERS} parameters`, servers.flatMap(largeClassesOf));
const long = files.filter(({ file, length }) => length > MAX_LINES && /^(src|dashboard)/.test(file));
const longNames = long.map(({ file, length }) => `${length} ${file}`);
print(`files of src and dashboard over ${MAX_LINES} lines`, longNames);
const registrations = source.reduce((sum, { text }) => sum + text.split('polls.register').length - 1, 0);
console.log(`\ncalls of polls.register: ${registrations}`);
print('files with StepRounds', namesOf(source.filter(({ text }) => text.includes('StepRounds'))));
const citus = source.filter(({ file, text }) => !file.startsWith('src/database/') && CITUS.test(text));
print('files outside src/database with words of Citus', namesOf(citus));
