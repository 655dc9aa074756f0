// The HTML around a page.
import { escape } from './markdown.mjs';
import { addressOf } from './sources.mjs';

/**
 * Parts that the pages share: the navigation, and the addresses of scripts and styles.
 *
 * @typedef {{ title: string, path: string }} Entry
 * @typedef {{ title: string, entries: Entry[] }} Group
 * @typedef {Group & { folder: string, groups: Group[] }} NavigationSection
 * @typedef {Record<'theme' | 'style' | 'script' | 'tryIt' | 'search' | 'icon', string>} Assets
 * @typedef {{ sections: NavigationSection[], assets: Assets }} Frame
 */

const NAME = 'Conversation Messaging Service';

/**
 * Returns a page's HTML.
 *
 * @param {Frame} frame
 * @param {import('./markdown.mjs').Rendered & { path: string }} page
 */
export function pageOf(frame, { path, title, summary, html, parts }) {
  const section = frame.sections.find(({ folder }) => path.startsWith(`${folder}/`) || path === folder);
  const order = frame.sections.flatMap((one) => [
    ...one.groups.flatMap(({ entries }) => entries),
    ...one.entries,
  ]);
  const index = order.findIndex((entry) => entry.path === path);
  const isReference = html.includes('class="operation"');
  const headings = parts.filter(({ id, level }) => id !== null && level <= 3);
  const hasContents = headings.length > 1 && !isReference;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(path ? `${title} · ${NAME}` : NAME)}</title>
<meta name="description" content="${escape(summary.slice(0, 300))}">
<meta name="color-scheme" content="light dark">
<script src="${frame.assets.theme}"></script>
<link rel="stylesheet" href="${frame.assets.style}">
<link rel="icon" href="${frame.assets.icon}">
<link rel="alternate" type="text/markdown" href="${markdownAddressOf(path)}">
<script type="module" src="${frame.assets.script}" data-search="${frame.assets.search}"></script>
${isReference ? `<script type="module" src="${frame.assets.tryIt}"></script>\n` : ''}</head>
<body${isReference ? ' class="wide"' : ''}>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="menu" type="button" aria-expanded="false" aria-controls="navigation" aria-label="Navigation">${icon('menu')}</button>
<a class="brand" href="${addressOf('')}">${icon('brand')}<span>Messaging <span class="dim">docs</span></span></a>
<nav class="sections" aria-label="Sections">${frame.sections
    .map(
      (one) =>
        `<a href="${addressOf(one.folder)}"${one === section ? ' aria-current="true"' : ''}>${escape(one.title)}</a>`,
    )
    .join('')}</nav>
<button class="search" type="button" hidden aria-label="Search">${icon('search')}<span>Search</span><kbd>/</kbd></button>
<button class="theme" type="button" hidden aria-label="Dark colours" aria-pressed="false">${icon('theme')}</button>
</header>
<div class="frame">
<nav class="navigation" id="navigation" aria-label="Pages">${frame.sections.map((one) => sectionOf(one, path, one === section || !path)).join('\n')}</nav>
<main id="content" tabindex="-1">
<div class="bar"><p class="where">${section ? `<a href="${addressOf(section.folder)}">${escape(section.title)}</a>` : ''}</p>
<p class="tools"><button class="copy-page" type="button" hidden data-href="${markdownAddressOf(path)}">Copy as Markdown</button><a href="${markdownAddressOf(path)}">View as Markdown</a></p></div>
<article>
${html}</article>
${neighbours(order[index - 1], index < 0 ? undefined : order[index + 1])}
</main>
${hasContents ? contents(headings) : ''}
</div>
</body>
</html>
`;
}

/** @param {string} path of a page */
export const markdownAddressOf = (path) => `${addressOf(path || 'index')}.md`;

/**
 * @param {NavigationSection} section
 * @param {string} path of the page that is shown
 * @param {boolean} isOpen
 */
function sectionOf({ title, entries, groups }, path, isOpen) {
  const list = (/** @type {Entry[]} */ some) =>
    `<ul>${some
      .map(
        (entry) =>
          `<li><a href="${addressOf(entry.path)}"${entry.path === path ? ' aria-current="page"' : ''}>${escape(entry.title)}</a></li>`,
      )
      .join('')}</ul>`;
  const below = groups.map((group) => {
    const hasPage = group.entries.some((entry) => entry.path === path);
    return `<details${hasPage ? ' open' : ''}><summary>${escape(group.title)}</summary>${list(group.entries)}</details>`;
  });
  return `<details${isOpen ? ' open' : ''}><summary>${escape(title)}</summary>${below.join('')}${list(entries)}</details>`;
}

/**
 * @param {Entry | undefined} before
 * @param {Entry | undefined} after
 */
function neighbours(before, after) {
  if (!before && !after) return '';
  const link = (
    /** @type {Entry | undefined} */ entry,
    /** @type {string} */ rel,
    /** @type {string} */ label,
  ) =>
    entry
      ? `<a rel="${rel}" href="${addressOf(entry.path)}"><span>${label}</span>${escape(entry.title)}</a>`
      : '<span></span>';
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`;
}

/** @param {import('./markdown.mjs').Part[]} headings */
function contents(headings) {
  const items = headings.map(
    ({ id, level, heading }) => `<li class="level-${level}"><a href="#${id}">${escape(heading)}</a></li>`,
  );
  return `<aside class="contents" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></aside>`;
}

const ICONS = {
  menu: '<path d="M4 7h16M4 12h16M4 17h16"/>',
  search: '<circle cx="11" cy="11" r="6"/><path d="m20 20-4.5-4.5"/>',
  theme: '<path d="M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z"/>',
  brand: '<path d="M4 5h16v11H10l-4 4v-4H4Z"/><path d="M8 9h8M8 12h5"/>',
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  return `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${ICONS[name]}</svg>`;
}
