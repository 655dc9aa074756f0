// The pages of the documentation, as the site orders them.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folder of the drawn diagrams. */
export const DIAGRAMS = join(ROOT, 'docs/images/diagrams');

/**
 * Returns the name of the file that has a diagram.
 *
 * @param {string} text the diagram in Mermaid's language
 */
export function diagramNameOf(text) {
  return `${createHash('sha256').update(text).digest('hex').slice(0, 12)}.svg`;
}

/** Path below which the API process serves the site. */
export const BASE = '/docs';

/**
 * Page before it is rendered. `path` is its address below `/docs/`, without an extension. `source` is the
 * file that its relative links start from, as a path in the repository.
 *
 * @typedef {{ path: string, source: string, markdown: string }} Page
 */

/**
 * Group of pages in the navigation. `groups` are lists of pages with a title of their own below the others.
 *
 * @typedef {{ title: string, pages: string[] }} Group
 * @typedef {Group & { folder: string, groups?: Group[] }} Section
 */

/** Pages outside docs/, by what the navigation calls them, each with its address. */
const ELSEWHERE = /** @type {Record<string, string>} */ ({
  SECURITY: 'explanation/security',
  CHANGELOG: 'project/changelog',
  'client/README': 'how-to/client',
});

/**
 * Page of the repository whose headings stand for pages that the build makes, so that links to these lead
 * somewhere on GitHub, too.
 */
const STANDS_FOR_MADE_PAGES = 'docs/reference/README.md';
/** Addresses below `/docs/` of the pages that the build makes, by the heading that stands for each. */
const MADE_PAGES = /** @type {Record<string, string>} */ ({
  'the-rest-api': 'reference/api',
  conversations: 'reference/api/conversations',
  events: 'reference/events',
  signatures: 'reference/events/signatures',
  errors: 'reference/errors',
  'for-language-models': 'llms.txt',
});

/** @returns {Section[]} */
export function readSections() {
  const sections = /** @type {Section[]} */ (
    JSON.parse(readFileSync(join(ROOT, 'docs/navigation.json'), 'utf8'))
  );
  return sections.map((section) => ({
    ...section,
    pages: section.pages.map((name) => ELSEWHERE[name] ?? name),
  }));
}

/**
 * Reads the pages that are files of the repository.
 *
 * @returns {Page[]}
 */
export function readPages() {
  const sections = /** @type {Section[]} */ (
    JSON.parse(readFileSync(join(ROOT, 'docs/navigation.json'), 'utf8'))
  );
  const names = ['index', ...sections.flatMap(({ pages }) => pages)];
  return names.map((name) => {
    const source = name in ELSEWHERE ? `${name}.md` : `docs/${name}.md`;
    const path = name === 'index' ? '' : (ELSEWHERE[name] ?? name);
    return { path, source, markdown: readFileSync(join(ROOT, source), 'utf8') };
  });
}

/**
 * Returns the address of the page that a relative link of another page leads to, with its anchor; null if it
 * leads to a file of the repository that is no page.
 *
 * @param {string} source
 * @param {string} target
 * @param {ReadonlyMap<string, Page>} pagesBySource
 */
export function resolveLink(source, target, pagesBySource) {
  const [path, anchor] = /** @type {[string, string?]} */ (target.split('#', 2));
  const file = path ? posix.normalize(posix.join(dirname(source), path)) : source;
  if (file === STANDS_FOR_MADE_PAGES) {
    const made = MADE_PAGES[anchor ?? ''];
    if (!made) throw new Error(`A link of ${source} stands for no page: ${target}`);
    return addressOf(made);
  }
  const page = pagesBySource.get(file);
  // The image's build has docs/ and few other files of the repository.
  if (!page && file.startsWith('docs/') && !existsSync(join(ROOT, file)))
    throw new Error(`A link of ${source} leads nowhere: ${target}`);
  return page ? addressOf(page.path) + (anchor === undefined ? '' : `#${anchor}`) : null;
}

/** @param {string} path of a page */
export const addressOf = (path) => (path ? `${BASE}/${path}` : BASE);
