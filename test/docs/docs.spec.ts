import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { Command } from 'commander';
import { DEFAULTS } from '../../dashboard/server/src/config/dashboard-config';
import { buildProgram } from '../../src/cli/program';
import { API_ERROR_STATUS } from '../../src/common/app-error';
import { COMPATIBILITY } from '../../src/common/compatibility';
import { CHANNELS, describeChannel } from '../../src/common/channel-descriptors';
import {
  HTTP_SETTINGS,
  PROCESS_SETTINGS,
  PROVIDER_SETTINGS,
  Setting,
  SHARED_SETTINGS,
} from '../../src/config/settings';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES } from '../../src/common/message-status';
import { eventCatalog } from '../../src/outbox/event-catalog';
import { listProjectFiles } from '../support/project-files';
import { nameOf, ROUTES } from '../support/routes';
import { ATTEMPT_ERRORS } from '../../src/webhooks/sending/attempt-outcome';

/**
 * Tests that the pages list all routes, variables, commands and codes, show the examples, and link to files
 * that exist.
 */

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');
/** Files in which pages name things of the code. */
const CODE = /^((src|test|scripts|migrations|dashboard|widget|client)\/.*|.*\.cjs)$/;
const PAGES = [
  ...[
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'CODE_OF_CONDUCT.md',
    'client/README.md',
  ],
  ...readdirSync(resolve(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Returns the text below a heading, up to the next heading. */
function section(page: string, heading: string): string {
  const text = read(page);
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`${page} has no "${heading}"`);
  const end = text.indexOf('\n#', start + heading.length);
  return text.slice(start, end < 0 ? undefined : end);
}

/**
 * Returns the tables of a text whose first column has this name: for each table its rows as lists of cells.
 */
function tables(text: string, firstColumn: string): string[][][] {
  const blocks = [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([block]) => block.trim().split('\n'));
  return blocks
    .filter(([head]) => head!.startsWith(`| ${firstColumn} `))
    .map(([, , ...rows]) =>
      rows.map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    );
}

/** Returns the rows of the only table below a heading whose first column has this name. */
function table(page: string, heading: string, firstColumn: string): string[][] {
  const found = tables(section(page, heading), firstColumn);
  if (found.length !== 1)
    throw new Error(`${page} "${heading}" has ${found.length} tables of "${firstColumn}"`);
  return found[0]!;
}

/** Returns, for each table of a page whose first column has this name, the entries of that column. */
const listsOf = (page: string, firstColumn: string) =>
  tables(read(page), firstColumn).map((rows) => rows.map(([name]) => bare(name)));

const bare = (cell: string | undefined) => cell?.replace(/`/g, '');

it('has a README of at most 16.5 kB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(16_500);
});

it('shows the examples as they are, and no other code', () => {
  const pages = ['README.md', 'docs/how-to/receive-webhooks.md', 'docs/how-to/dashboard-backends.md']
    .map(read)
    .join('\n');
  const blocks = [...pages.matchAll(/^```(?:ts|python)\n([^]*?)^```$/gm)].map(([, code]) => code);
  const files = readdirSync(resolve(ROOT, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => read(`examples/${name}`));
  expect(blocks.sort()).toEqual(files.sort());
});

it('shows the whole assistant in the guide on bots', () => {
  const [, code] = /^```js\n([^]*?)^```$/m.exec(read('docs/how-to/write-a-bot.md'))!;
  expect(code).toBe(read('examples/assistant/assistant.mjs'));
});

it('lists every variable that the configuration reads, with its default and what it is for', () => {
  const settings = [HTTP_SETTINGS, SHARED_SETTINGS, PROCESS_SETTINGS, PROVIDER_SETTINGS];
  const rows = settings.flatMap((group) =>
    Object.values<Setting<unknown>>(group).map((setting) => [
      `\`${setting.variable}\``,
      defaultOf(setting) && `\`${defaultOf(setting)}\``,
      setting.meaning,
    ]),
  );
  expect(table('docs/reference/configuration.md', '## Variables', 'Variable').sort()).toEqual(rows.sort());
});

it('lists every variable of the dashboard, with its default', () => {
  const settings: Setting<unknown>[] = Object.values({ ...HTTP_SETTINGS, ...SHARED_SETTINGS });
  const defaults: Record<string, string> = {
    ...Object.fromEntries(settings.map((setting) => [setting.variable, defaultOf(setting)])),
    ...DEFAULTS,
  };
  const named = section('docs/how-to/dashboard.md', '## Variables').match(/(?<=`)[A-Z_]+(?=`)/g);
  expect(named).toEqual(expect.arrayContaining(Object.keys(defaults)));
  const rows = table('docs/how-to/dashboard.md', '## Variables', 'Variable');
  expect(rows.map(([name, value]) => [bare(name), bare(value)])).toEqual(
    rows.map(([name]) => [bare(name), defaults[bare(name)!] ?? '']),
  );
});

/** Returns a setting's default as text; empty if it has none or takes it from other settings. */
function defaultOf({ default: value }: Setting<unknown>): string {
  return typeof value === 'string' ? value : '';
}

it('passes the addresses of the outside world to the containers', () => {
  const [, environment] = /x-environment: &environment.*\n([^]*?)\n\n/.exec(read('compose.yaml'))!;
  const passed = [...environment!.matchAll(/^ {2}(\w+): \$\{\1:-/gm)].map(([, name]) => name);
  expect(passed).toEqual(expect.arrayContaining(['APP_URL', 'PUBLIC_URL', 'TRUST_PROXY']));
});

it("lists every channel's credentials", () => {
  const rows = table('docs/how-to/channels.md', '## Connecting', 'Channel').map(([channel, credentials]) => [
    bare(channel),
    [...credentials!.matchAll(/`(\[?\w+\]?)`/g)].map(([, field]) => field),
  ]);
  const fields = CHANNELS.map((channel) => [
    channel,
    // Fields that only a rotation has are in the text below the table.
    [
      ...describeChannel(channel)
        .credentials.split(';')[0]!
        .matchAll(/\[?[a-z]\w*[A-Z]\w*\]?/g),
    ].map(([field]) => field),
  ]);
  expect(rows.sort()).toEqual(fields.sort());
});

it('lists every command of the CLI', () => {
  const leaves = ({ commands }: Command, path: string[] = []): string[] =>
    commands.flatMap((command) => {
      const name = [...path, command.name()];
      return command.commands.length > 0 ? leaves(command, name) : [name.join(' ')];
    });
  const rows = listsOf('docs/reference/cli.md', 'Command').flat();
  expect(rows.sort()).toEqual(leaves(buildProgram()).sort());
});

it('shows commands of the CLI with options that they have', () => {
  const groups = buildProgram().commands.filter(({ commands }) => commands.length > 0);
  const named = new RegExp(`\`((?:${groups.map((group) => group.name()).join('|')}) [a-z][^\`]*)\``, 'g');
  const text = PAGES.map(read).join('\n').replace(/\\\n/g, ' ');
  const shown = [...text.matchAll(/node dist\/cli\.js ([a-z][^\n`]*)/g), ...text.matchAll(named)];
  expect(shown.length).toBeGreaterThan(50);
  const faults = shown.map(([, command]) => ({ command, fault: faultOf(command!) }));
  expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
});

/** Returns why the CLI does not know a command or one of its options; null if it does. */
function faultOf(line: string): string | null {
  const words = line.split(/\s+/);
  let command: Command = buildProgram();
  while (command.commands.length > 0) {
    const word = words.shift();
    const next = command.commands.find((one) => one.name() === word);
    if (!next) return `no command ${word}`;
    command = next;
  }
  const known = [...command.options, ...buildProgram().options].map(({ long }) => long);
  return words.find((word) => /^--[a-z]/.test(word) && !known.includes(word.replace(/=.*/, ''))) ?? null;
}

it('explains every way in which an attempt can fail', () => {
  const rows = table('docs/how-to/operating.md', '## Failed attempts', 'Error').map(([name]) => bare(name));
  expect(rows.sort()).toEqual([...ATTEMPT_ERRORS].sort());
});

it('gives a reason for every dependency', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const rows = table('README.md', '## Dependencies', 'Package');
  expect(rows.map(([name]) => bare(name))).toEqual(Object.keys(dependencies));
  expect(rows.filter(([, reason]) => !reason)).toEqual([]);
});

it('lists every route and its scopes', () => {
  const lines = read('README.md').matchAll(/^- (.+): ((?:`[A-Z]+ \/\S*`(?:, )?)+)$/gm);
  const listed = [...lines].flatMap(([, scopes, routes]) =>
    routes!.split(', ').map((route) => [bare(route)!.replace(' ', ' /api/v1'), bare(scopes)]),
  );
  const routes = ROUTES.map((route) => [nameOf(route), route.scopes.join(' or ') || 'any valid key']);
  expect(listed.sort()).toEqual(routes.sort());
});

it('lists every error code and its status', () => {
  const rows = table('README.md', '## The API', 'Status').map(([status, code]) => [
    bare(code),
    Number(status),
  ]);
  expect(Object.fromEntries(rows)).toEqual(API_ERROR_STATUS);
});

it('promises the same of the API and the events on each page that does', () => {
  for (const page of ['README.md', 'docs/project/contributing.md'])
    expect(read(page).replace(/\s+/g, ' ')).toContain(COMPATIBILITY);
});

it('lists every event', () => {
  const rows = table('docs/how-to/receive-webhooks.md', '## Events', 'Event').map(([name]) => bare(name));
  expect(rows).toEqual(Object.keys(eventCatalog));
});

it('lists every status of an outbound message, and why one may fail', () => {
  const statuses = listsOf('docs/how-to/channels.md', 'Status').map((list) => list.sort());
  expect(statuses).toContainEqual([...DELIVERY_STATUSES].sort());
  expect(listsOf('docs/how-to/channels.md', 'Code')).toContainEqual(Object.keys(DELIVERY_ERROR_CODES));
});

it('says how every channel is connected', () => {
  const channels = listsOf('docs/how-to/channels.md', 'Channel').map((list) => list.sort());
  expect(channels).toContainEqual([...CHANNELS].sort());
});

it('names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const text = PAGES.map(read).join('\n');
  const named = [...text.matchAll(/npm run ([\w:-]+)\b(?! --workspace)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !Object.hasOwn(scripts, name!))).toEqual([]);
});

it.each(PAGES)('%s links to files and headings that exist', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  expect(links.length > 0 || page === 'docs/project/internals-we-rely-on.md').toBe(true);
  // An address of the site leads nowhere on GitHub. docs/reference/README.md stands for the pages that the
  // build makes.
  const broken = links.filter((link) => !link.startsWith('https:') && !exists(page, link));
  expect(broken).toEqual([]);
});

it('has every page in the navigation of the site', () => {
  const sections = JSON.parse(read('docs/navigation.json')) as { pages: string[] }[];
  const fromRoot = ['SECURITY', 'CHANGELOG', 'client/README'];
  const named = sections
    .flatMap(({ pages }) => pages)
    .map((name) => (fromRoot.includes(name) ? name : `docs/${name}`));
  const elsewhere = [
    ...['README.md', 'CONTRIBUTING.md', 'CODE_OF_CONDUCT.md'],
    ...['docs/index.md', 'docs/reference/README.md'],
    // It is a log, which the repository has and the site does not.
    'docs/project/test-runs.md',
  ];
  const pages = PAGES.filter((page) => !elsewhere.includes(page));
  expect(named.map((name) => `${name}.md`).sort()).toEqual(pages.sort());
});

/** Returns the files that a page names in backquotes. */
const filesNamedIn = (page: string) =>
  [...read(page).matchAll(/`((?:src|test|scripts|migrations|examples|bench)\/[\w./-]+)`/g)].map(
    ([, path]) => path!,
  );

it.each(PAGES)('%s names files that exist', (page) => {
  // The examples of docs/project/extending.md make new files.
  const missing = filesNamedIn(page).filter(
    (path) => !/\btags?\b|\bsms\b/.test(path) && !existsSync(resolve(ROOT, path)),
  );
  expect(missing).toEqual([]);
});

it.each([
  'docs/explanation/architecture.md',
  'docs/project/extending.md',
  'docs/project/glossary.md',
  'SECURITY.md',
])('%s says where things are', (page) => expect(filesNamedIn(page).length).toBeGreaterThan(0));

it.each(['docs/explanation/architecture.md', 'docs/project/extending.md'])(
  '%s names what is in the code',
  (page) => {
    const files = listProjectFiles().filter((file) => CODE.test(file));
    const code = new Set(files.flatMap((file) => read(file).match(/\w+/g) ?? []));
    const spans = [
      ...read(page)
        .replace(/^```[^]*?^```$/gm, '')
        .matchAll(/`([^`]+)`/g),
    ].map(([, span]) => span!);
    const names = spans.flatMap((span) => span.match(/\b[A-Za-z]+(?:[A-Z_]\w*)\b/g) ?? []);
    expect(names.length).toBeGreaterThan(30);
    // The examples of docs/project/extending.md make tags and SMS.
    expect(names.filter((name) => !code.has(name) && !/^Tags|^SMS$/.test(name))).toEqual([]);
  },
);

it('has a glossary in alphabetical order, each entry with its place', () => {
  const [entries] = tables(read('docs/project/glossary.md'), 'Noun') as [string[][]];
  const nouns = entries.map(([noun]) => noun!.toLowerCase());
  expect(nouns.length).toBeGreaterThan(50);
  expect(nouns).toEqual([...new Set(nouns)].sort((a, b) => a.localeCompare(b)));
  expect(entries.filter(([, , place]) => !existsSync(resolve(ROOT, bare(place)!)))).toEqual([]);
});

/** Paths of the files and folders that GitHub shows. */
const SHOWN = new Set(
  listProjectFiles().flatMap((file) =>
    file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/')),
  ),
);

/** Reports whether a link leads to something that GitHub shows, and, after #, to a heading in it. */
function exists(page: string, link: string): boolean {
  const [path, anchor] = link.split('#', 2) as [string, string | undefined];
  const file = path ? posix.join(page, '..', path).replace(/\/$/, '') : page;
  if (!SHOWN.has(file)) return false;
  if (anchor === undefined) return true;
  const text = read(file).replace(/^```[^]*?^```$/gm, '');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return headings.some(
    (heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\s-]/gu, '')
        .replace(/ /g, '-') === anchor,
  );
}
