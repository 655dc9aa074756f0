// Renders a page's Markdown: headings with anchors, links between pages, highlighted code, tabs.
import hljs from 'highlight.js/lib/common';
import http from 'highlight.js/lib/languages/http';
import { Marked } from 'marked';

hljs.registerLanguage('http', http);

/** Languages of code blocks, by what highlight.js calls them. */
const LANGUAGES = /** @type {Record<string, string>} */ ({
  console: 'shell',
  sh: 'bash',
  ts: 'typescript',
  js: 'javascript',
  html: 'xml',
  prometheus: 'plaintext',
  text: 'plaintext',
});

/**
 * Site, as far as rendering asks it. `resolve` returns the address of a link, or null for a file that the
 * site does not have; `image` returns an image's address and size.
 *
 * @typedef {object} Site
 * @property {(target: string) => string | null} resolve
 * @property {(target: string) => { src: string, width: number, height: number } | null} image
 * @property {(text: string) => string} diagram HTML of a diagram in Mermaid's language
 * @property {(marker: string) => string} expand HTML that stands for a comment of generated Markdown
 */

/**
 * Part of a page below a heading. `id` is null for what comes before the first one.
 *
 * @typedef {{ id: string | null, level: number, heading: string, text: string }} Part
 * @typedef {{ title: string, summary: string, html: string, parts: Part[], links: string[] }} Rendered
 */

/**
 * @param {string} markdown
 * @param {Site} site
 * @returns {Rendered}
 */
export function render(markdown, site) {
  const ids = new Map();
  /** @type {Part[]} */
  const parts = [{ id: null, level: 1, heading: '', text: '' }];
  /** @type {string[]} */
  const links = [];
  let title = '';
  let summary = '';

  const marked = new Marked({ gfm: true });
  marked.use({
    extensions: [
      {
        name: 'tabs',
        /** @param {import('marked').Tokens.Generic} token */
        renderer: (token) => renderTabs(/** @type {Code[]} */ (token['items'])),
      },
    ],
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        if (depth === 1) {
          title ||= plain(html);
          return `<h1>${html}</h1>\n`;
        }
        const id = unique(slugOf(text), ids);
        parts.push({ id, level: depth, heading: plain(html), text: '' });
        return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to “${escape(plain(html))}”">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        if (/^https?:/.test(href)) return `<a href="${escape(href)}" rel="noopener">${html}</a>`;
        const address = href.startsWith('/') ? href : site.resolve(href);
        // A file of the repository that is no page keeps its name alone.
        if (address === null) return html;
        links.push(address);
        return `<a href="${escape(address)}">${html}</a>`;
      },
      image({ href, text }) {
        const image = site.image(href);
        if (!image) throw new Error(`An image is missing: ${href}`);
        const { src, width, height } = image;
        return `<img src="${src}" alt="${escape(text)}" width="${width}" height="${height}" loading="lazy">`;
      },
      codespan({ text }) {
        // A path may be broken behind a slash, so that a table on a phone need not break a word.
        return `<code>${escape(text).replaceAll(/(?<=[\w}])\/(?=\w)/g, '/<wbr>')}</code>`;
      },
      code(token) {
        return token.lang === 'mermaid' ? site.diagram(token.text) : renderCode(token);
      },
      table(token) {
        const cells = (/** @type {import('marked').Tokens.TableCell[]} */ row, /** @type {string} */ tag) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const head = cells(token.header, 'th');
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="table"><table><thead><tr>${head}</tr></thead><tbody>\n${body}</tbody></table></div>\n`;
      },
      html({ text }) {
        const marker = /^<!-- (.*) -->\s*$/.exec(text);
        return marker ? site.expand(/** @type {string} */ (marker[1])) : text;
      },
    },
  });
  const tokens = groupTabs(marked.lexer(markdown));
  let html = '';
  for (const token of tokens) {
    if (token.type === 'paragraph' && !summary) summary = plain(inline(marked, token.text));
    const made = marked.parser([token]);
    html += made;
    const part = /** @type {Part} */ (parts.at(-1));
    if (token.type !== 'heading') part.text += ` ${plain(made)}`;
  }
  if (!title) throw new Error('A page has no title.');
  return { title, summary, html, parts, links };
}

/** @typedef {import('marked').Tokens.Code} Code */

/**
 * @param {Marked} marked
 * @param {string} text
 */
function inline(marked, text) {
  return /** @type {string} */ (marked.parseInline(text));
}

/**
 * Makes one token of neighbouring code blocks that have a `tab=` in their info strings.
 *
 * @param {import('marked').TokensList} tokens
 * @returns {import('marked').Token[]}
 */
function groupTabs(tokens) {
  /** @type {import('marked').Token[]} */
  const grouped = [];
  for (const token of tokens) {
    const last = grouped.at(-1);
    const isTab = token.type === 'code' && / tab=/.test(token.lang ?? '');
    if (isTab && last?.type === 'tabs') last['items'].push(token);
    else if (isTab) grouped.push({ type: 'tabs', raw: '', items: [token] });
    else if (token.type !== 'space') grouped.push(token);
  }
  return grouped;
}

/** @param {Code[]} items */
function renderTabs(items) {
  const panels = items.map((item) => {
    const label = /tab=(?:"([^"]+)"|(\S+))/.exec(item.lang ?? '');
    const name = escape(label?.[1] ?? label?.[2] ?? '');
    return `<section class="tab" data-tab="${name}"><p class="tab-name">${name}</p>${renderCode(item)}</section>`;
  });
  return `<div class="tabs">${panels.join('\n')}</div>\n`;
}

/** @param {Code} token */
function renderCode({ text, lang = '' }) {
  const [name = ''] = lang.split(' ');
  const language = LANGUAGES[name] ?? (name || 'plaintext');
  const html = hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escape(text);
  return `<div class="code"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}

/**
 * Returns the anchor of a heading, as GitHub makes it.
 *
 * @param {string} heading
 */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, '')
    .replace(/ /g, '-');
}

/**
 * @param {string} id
 * @param {Map<string, number>} ids that the page has already, each with its number of headings
 */
function unique(id, ids) {
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}

/** @param {string} text */
export function escape(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

/**
 * Returns the text of HTML, as a person reads it.
 *
 * @param {string} html
 */
export function plain(html) {
  return html
    .replace(/<button[^]*?<\/button>|<form[^]*?<\/form>/g, '')
    .replace(/<a class="anchor"[^]*?<\/a>|<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#(?:39|x27);/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
}
