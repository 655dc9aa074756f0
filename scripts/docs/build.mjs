// Builds the documentation into dist/docs: a page of HTML and one of Markdown for each page of docs/ and of
// the reference, the index of the search, and llms.txt. The build fails when a link leads nowhere.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { render } from './markdown.mjs';
import { apiPages } from './reference/api-pages.mjs';
import { readDocument } from './reference/document.mjs';
import { errorPages } from './reference/error-pages.mjs';
import { eventPages } from './reference/event-pages.mjs';
import { tryItForms } from './reference/try-it.mjs';
import {
  addressOf,
  BASE,
  DIAGRAMS,
  diagramNameOf,
  readPages,
  readSections,
  resolveLink,
  ROOT,
} from './sources.mjs';
import { markdownAddressOf, pageOf } from './template.mjs';

const OUT = join(ROOT, 'dist/docs');
const BROWSER = join(ROOT, 'scripts/docs/browser');
/** Ends of the names of files that compression makes smaller. */
const SHRINKS = /\.(?:html|md|txt|js|css|json|svg)$/;

/** Scale at which diagrams are shown: their letters are somewhat smaller than those of the text. */
const DIAGRAM_SCALE = 0.65;

/** @type {Map<string, Buffer>} */
const files = new Map();

/**
 * Adds a file whose name contains a hash of its content, and returns its address.
 *
 * @param {string} name
 * @param {Buffer | string} content
 */
function addAsset(name, content) {
  const bytes = Buffer.from(content);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
  const end = extname(name);
  const path = `assets/${basename(name, end)}-${hash}${end}`;
  files.set(path, bytes);
  return `${BASE}/${path}`;
}

/** @param {string} name */
const addBrowserFile = (name) => addAsset(name, readFileSync(join(BROWSER, name)));

/**
 * Adds an image of the repository, and returns its address and size.
 *
 * @param {string} source of the page
 * @param {string} target
 */
function addImage(source, target) {
  const path = join(ROOT, dirname(source), target);
  const bytes = readFileSync(path);
  return { src: addAsset(basename(path), bytes), ...sizeOf(path, bytes) };
}

/**
 * @param {string} path
 * @param {Buffer} bytes
 */
function sizeOf(path, bytes) {
  if (path.endsWith('.png')) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(bytes.toString());
  if (!box) throw new Error(`${path} has no viewBox.`);
  return { width: Math.round(Number(box[1])), height: Math.round(Number(box[2])) };
}

/**
 * Returns a page as a reader of Markdown gets it: links lead to the Markdown of other pages.
 *
 * @param {import('./sources.mjs').Page} page
 */
function markdownOf({ source, markdown }) {
  const linked = markdown.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, (_, /** @type {string} */ target) => {
    const address = target.startsWith('/') ? target : resolveLink(source, target, pagesBySource);
    if (address === null) return `](${target})`;
    const [path, anchor] = /** @type {[string, string?]} */ (address.split('#', 2));
    const isPage = pagesByAddress.has(path);
    return `](${isPage ? `${path === BASE ? `${BASE}/index` : path}.md` : path}${anchor ? `#${anchor}` : ''})`;
  });
  return linked.replace(/^<!-- .* -->\n/gm, '').replace(/^(```\w+) tab=.*$/gm, '$1');
}

const document = await readDocument();
const generated = [
  { title: 'REST API', pages: apiPages(document) },
  { title: 'Events', pages: eventPages(document) },
  { title: 'Errors', pages: errorPages(document) },
];
const sections = readSections().map((section) =>
  section.folder === 'reference'
    ? {
        ...section,
        groups: generated.map((group) => ({ ...group, pages: group.pages.map(({ path }) => path) })),
      }
    : section,
);
const written = readPages();
const pages = [...written, ...generated.flatMap((group) => group.pages)];
const forms = tryItForms(document);
const pagesBySource = new Map(pages.map((page) => [page.source, page]));
// The README's parts that other pages name are the first page's.
const first = /** @type {import('./sources.mjs').Page} */ (pagesBySource.get('docs/index.md'));
pagesBySource.set('README.md', first);

const rendered = new Map(
  pages.map((page) => {
    const made = render(page.markdown, {
      resolve: (target) => resolveLink(page.source, target, pagesBySource),
      image: (target) => addImage(page.source, target),
      diagram,
      expand: written.includes(page) ? () => '' : expand,
    });
    return [page.path, { ...page, ...made }];
  }),
);

/** @param {string[]} paths */
const entriesOf = (paths) =>
  paths.map((path) => {
    const page = rendered.get(path);
    if (!page) throw new Error(`There is no page ${path}.`);
    return { path, title: page.title, summary: page.summary };
  });

const navigation = sections.map(({ title, folder, pages: paths, groups = [] }) => ({
  title,
  folder,
  entries: entriesOf(paths),
  groups: groups.map((group) => ({ title: group.title, entries: entriesOf(group.pages) })),
}));

// Each section has a page that lists its pages.
for (const { title, folder, entries, groups } of navigation) {
  const list = (/** @type {typeof entries} */ some) =>
    some.map((entry) => `- [${entry.title}](${addressOf(entry.path)}): ${entry.summary}`).join('\n');
  const markdown = [
    `# ${title}`,
    ...groups.map((group) => `## ${group.title}\n\n${list(group.entries)}\n\n`),
    groups.length > 0 ? '## More' : '',
    list(entries),
  ].join('\n\n');
  const page = { path: folder, source: `docs/${folder}.md`, markdown: `${markdown}\n` };
  const made = render(page.markdown, {
    resolve: () => null,
    image: () => null,
    diagram,
    expand: () => '',
  });
  rendered.set(folder, { ...page, ...made });
}
const pagesByAddress = new Map([...rendered.values()].map((page) => [addressOf(page.path), page]));

checkLinks();

const everyPage = [...rendered.values()];
const searchIndex = everyPage.map(({ path, title, parts }) => ({
  path: addressOf(path),
  title,
  section: navigation.find(({ folder }) => path.startsWith(`${folder}/`))?.title ?? '',
  parts: searchedParts(path, parts).map(({ id, heading, text }) => [id ?? '', heading, text.trim()]),
}));

/**
 * Returns the parts of a page that the search finds. An operation of the API is one part, with its parameters
 * and answers.
 *
 * @param {string} path
 * @param {import('./markdown.mjs').Part[]} parts
 */
function searchedParts(path, parts) {
  if (!path.startsWith('reference/api/')) return parts.filter(({ heading, text }) => heading || text.trim());
  /** @type {import('./markdown.mjs').Part[]} */
  const merged = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last && part.level > 2) last.text += part.text;
    else merged.push({ ...part });
  }
  return merged;
}

const script = addBrowserFile('site.js');
const tryIt = readFileSync(join(BROWSER, 'try-it.js'), 'utf8').replace("'./site.js'", `'${script}'`);
const frame = {
  sections: navigation,
  assets: {
    theme: addBrowserFile('theme.js'),
    style: addBrowserFile('site.css'),
    script,
    tryIt: addAsset('try-it.js', tryIt),
    icon: addBrowserFile('icon.svg'),
    search: addAsset('search.json', JSON.stringify(searchIndex)),
  },
};

for (const page of everyPage) {
  files.set(`${page.path || 'index'}.html`, Buffer.from(pageOf(frame, page)));
  files.set(`${page.path || 'index'}.md`, Buffer.from(markdownOf(page)));
}
const unknown = unknownPage();
files.set('404.html', Buffer.from(pageOf(frame, unknown)));
files.set('404.md', Buffer.from(unknown.markdown));
files.set('llms.txt', Buffer.from(llmsText()));

await writeFiles();

/**
 * Returns the HTML that a comment in a generated page stands for.
 *
 * @param {string} marker
 */
function expand(marker) {
  const form = forms.get(marker);
  if (form) return form;
  const html = {
    operation: '<div class="operation"><div class="description">\n',
    samples: '</div><div class="samples">\n',
    end: '</div></div>\n',
  }[marker];
  if (html === undefined) throw new Error(`A comment stands for nothing: ${marker}`);
  return html;
}

/**
 * Returns a drawn diagram. `draw-diagrams.mjs` draws it.
 *
 * @param {string} text
 */
function diagram(text) {
  const path = join(DIAGRAMS, diagramNameOf(text));
  if (!existsSync(path)) throw new Error('A diagram is not drawn: run scripts/docs/draw-diagrams.mjs.');
  const bytes = readFileSync(path);
  const { width, height } = sizeOf(path, bytes);
  const src = addAsset('diagram.svg', bytes);
  const [shownWidth, shownHeight] = [width, height].map((pixels) => Math.round(pixels * DIAGRAM_SCALE));
  return `<p class="diagram"><img src="${src}" alt="A diagram of what the text says" width="${shownWidth}" height="${shownHeight}" loading="lazy"></p>\n`;
}

/** Fails when a link leads to a page or a heading that does not exist. */
function checkLinks() {
  const broken = [...rendered.values()].flatMap(({ path, links }) =>
    links
      .filter((link) => {
        const [address, anchor] = /** @type {[string, string?]} */ (link.split('#', 2));
        if (address === `${BASE}/llms.txt`) return false;
        const page = pagesByAddress.get(address);
        return !page || (anchor !== undefined && !page.parts.some(({ id }) => id === anchor));
      })
      .map((link) => `${path}: ${link}`),
  );
  if (broken.length > 0) throw new Error(`Links lead nowhere:\n${broken.join('\n')}`);
}

/** Returns the page that stands for every path without one. */
function unknownPage() {
  const markdown = `# This page does not exist

It may have been moved: search for it, or begin at the [first page](${BASE}).
`;
  const made = render(markdown, { resolve: () => null, image: () => null, diagram, expand: () => '' });
  return { path: '404', markdown, ...made };
}

/** Returns the list of the pages for language models, in the form of llmstxt.org. */
function llmsText() {
  const list = (/** @type {{ path: string, title: string, summary: string }[]} */ entries) =>
    entries
      .map((entry) => `- [${entry.title}](${markdownAddressOf(entry.path)}): ${entry.summary}`)
      .join('\n');
  return [
    '# Conversation Messaging Service',
    `> ${/** @type {{ summary: string }} */ (rendered.get('')).summary}`,
    'The OpenAPI document is at /api/v1/openapi.json.',
    ...navigation.map(({ title, entries, groups }) =>
      [`## ${title}`, '', list([...groups.flatMap((group) => group.entries), ...entries])].join('\n'),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

async function writeFiles() {
  const compressBrotli = promisify(brotliCompress);
  const compressGzip = promisify(gzip);
  rmSync(OUT, { recursive: true, force: true });
  for (const name of files.keys()) mkdirSync(join(OUT, posix.dirname(name)), { recursive: true });
  await Promise.all(
    [...files].map(async ([name, bytes]) => {
      writeFileSync(join(OUT, name), bytes);
      if (!SHRINKS.test(name)) return;
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: 9,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      };
      writeFileSync(join(OUT, `${name}.br`), await compressBrotli(bytes, { params }));
      writeFileSync(join(OUT, `${name}.gz`), await compressGzip(bytes));
    }),
  );
}
