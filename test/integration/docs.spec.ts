import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { buildProgram } from '../../src/cli/program';
import { ERROR_STATUS } from '../../src/common/app-error';
import { CHANNELS } from '../../src/common/channel';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES } from '../../src/messages/message-status';
import { eventCatalog } from '../../src/outbox/event-catalog';
import { nameOf, ROUTES } from '../support/routes';

/** README.md lists what there is, completely, and shows the examples as they are. */

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');
const readme = read('README.md');

/** What stands under a heading, up to the next one. */
function section(heading: string): string {
  const start = readme.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`README.md has no "${heading}"`);
  const end = readme.indexOf('\n#', start + heading.length);
  return readme.slice(start, end < 0 ? undefined : end);
}

/** The rows of the table whose first column is named so, each a list of cells. */
function table(heading: string, firstColumn: string): string[][] {
  const lines = section(heading).split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${firstColumn} `));
  if (head < 0) throw new Error(`"${heading}" has no table of "${firstColumn}"`);
  const rows = lines.slice(head + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end < 0 ? undefined : end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const bare = (cell: string | undefined) => cell?.replace(/`/g, '');

it('shows the examples as they are, and no other code', () => {
  const blocks = [...readme.matchAll(/^```(?:ts|python)\n([^]*?)^```$/gm)].map(([, code]) => code);
  const files = readdirSync(resolve(ROOT, 'examples')).map((file) => read(`examples/${file}`));
  expect(blocks.sort()).toEqual(files.sort());
});

it('lists every variable that the configuration reads, with its default', () => {
  // As the class Environment declares them: `  NAME: type = default;` or `  NAME?: type;`.
  const declared = [...read('src/config/environment.ts').matchAll(/^ {2}([A-Z_]+)\??: \w+(?: = (.*))?;$/gm)];
  const variables = declared.map(([, name, value = '']) => [name, value.replace(/['_]/g, '')]);
  const rows = table('### Configuration', 'Variable').map(([name, value]) => [bare(name), bare(value)]);
  expect(variables.length).toBeGreaterThan(0);
  expect(rows).toEqual(variables);
});

it('lists every command of the CLI', () => {
  const leaves = ({ commands }: Command, path: string[] = []): string[] =>
    commands.flatMap((command) => {
      const name = [...path, command.name()];
      return command.commands.length > 0 ? leaves(command, name) : [name.join(' ')];
    });
  const rows = table('### CLI', 'Command').map(([name]) => bare(name));
  expect(rows.sort()).toEqual(leaves(buildProgram()).sort());
});

it('explains every way in which an attempt can fail', () => {
  const declared = /type AttemptError =([^;]*);/.exec(read('src/webhooks/sending/attempt-outcome.ts'))?.[1];
  const errors = [...declared!.matchAll(/'(\w+)'/g)].map(([, error]) => error);
  expect(errors.length).toBeGreaterThan(0);
  const rows = table('### CLI', 'Error').map(([name]) => bare(name));
  expect(rows.sort()).toEqual(errors.sort());
});

it('gives a reason for every dependency', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const rows = table('## Dependencies', 'Package');
  expect(rows.map(([name]) => bare(name))).toEqual(Object.keys(dependencies));
  expect(rows.filter(([, reason]) => !reason)).toEqual([]);
});

it('lists every route and its scopes', () => {
  const rows = table('## Using the API', 'Route').map(([route, scopes]) => [bare(route), bare(scopes)]);
  const routes = ROUTES.map((route) => [nameOf(route), route.scopes.join(' or ') || 'any valid key']);
  expect(rows.sort()).toEqual(routes.sort());
});

it('lists every error code and its status', () => {
  const rows = table('## Using the API', 'Status').map(([status, code]) => [bare(code), Number(status)]);
  expect(Object.fromEntries(rows)).toEqual(ERROR_STATUS);
});

it('lists every event', () => {
  const rows = table('## Receiving webhooks', 'Event').map(([name]) => bare(name));
  expect(rows).toEqual(Object.keys(eventCatalog));
});

it('lists every status of a reply, and why one may fail', () => {
  const statuses = table('### What becomes of a reply', 'Status').map(([status]) => bare(status));
  expect(statuses.sort()).toEqual([...DELIVERY_STATUSES].sort());
  const codes = table('### What becomes of a reply', 'Code').map(([code]) => bare(code));
  expect(codes).toEqual(Object.keys(DELIVERY_ERROR_CODES));
});

it('says how every channel is connected', () => {
  const channels = table('### Connecting', 'Channel').map(([channel]) => bare(channel));
  expect(channels.sort()).toEqual([...CHANNELS].sort());
});

it('names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !Object.hasOwn(scripts, name!))).toEqual([]);
});

it.each(['README.md', 'docs/architecture.md', 'docs/extending.md', 'docs/channels.md', 'docs/widget.md'])(
  '%s links to what exists',
  (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    expect(links.length).toBeGreaterThan(0);
    const broken = links.filter((link) => !link.startsWith('https://') && !exists(page, link));
    expect(broken).toEqual([]);
  },
);

it.each(['docs/architecture.md', 'docs/extending.md'])('%s names files that exist', (page) => {
  const named = [...read(page).matchAll(/`((?:src|test|scripts|migrations|examples)\/[\w./-]+)`/g)];
  const paths = named.map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(0);
  // One folder is spoken of that is yet to be made: the notes of an example.
  const missing = paths.filter((path) => !/notes/.test(path) && !existsSync(resolve(ROOT, path)));
  expect(missing).toEqual([]);
});

/** Whether a link leads to a file, and, after #, to a heading in it. */
function exists(page: string, link: string): boolean {
  const [path, anchor] = link.split('#', 2) as [string, string | undefined];
  const file = path ? resolve(ROOT, page, '..', path) : resolve(ROOT, page);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return headings.some(
    (heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/ /g, '-') === anchor,
  );
}
