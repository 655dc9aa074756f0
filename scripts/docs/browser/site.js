// What every page does: colours, the menu of a phone, copying, tabs, the search.

/**
 * Makes an element.
 *
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Keeps a choice of the reader. A browser that refuses storage forgets it.
 *
 * @param {string} name
 * @param {string} value
 */
function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice counts for this page alone.
  }
}

/** @param {string} name */
function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// Colours.
const themeButton = /** @type {HTMLButtonElement} */ (document.querySelector('button.theme'));
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () =>
  (document.documentElement.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light')) === 'dark';
const showTheme = () => themeButton.setAttribute('aria-pressed', String(isDark()));
themeButton.hidden = false;
themeButton.addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  keep('docs-theme', theme);
  showTheme();
});
prefersDark.addEventListener('change', showTheme);
showTheme();

/**
 * Reports whether a key press belongs to an input method. Safari has only the key code to tell by when Enter
 * ends a composition.
 * @param {KeyboardEvent} event
 */
function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

// The menu of a narrow window.
const menuButton = /** @type {HTMLButtonElement} */ (document.querySelector('button.menu'));
menuButton.addEventListener('click', () => setMenu(menuButton.getAttribute('aria-expanded') !== 'true'));
/** @param {boolean} isOpen */
function setMenu(isOpen) {
  menuButton.setAttribute('aria-expanded', String(isOpen));
  document.body.classList.toggle('menu-open', isOpen);
}
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !isComposing(event) && document.body.classList.contains('menu-open')) {
    setMenu(false);
    menuButton.focus();
  }
});
const navigation = /** @type {HTMLElement} */ (document.querySelector('.navigation'));
/** @type {HTMLElement | null} */
const current = navigation.querySelector('[aria-current="page"]');
if (current) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2;

// Samples name the service that serves the page.
for (const code of document.querySelectorAll('.samples code, .tabs code')) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    text.data = text.data.replace('http://localhost:3000', location.origin);
  }
}

// What is wider than the page is scrolled by the keyboard, too.
const watchWidths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
    else target.removeAttribute('tabindex');
  }
});
for (const wide of document.querySelectorAll('.table, .diagram')) watchWidths.observe(wide);

// Copying.
/**
 * @param {HTMLElement} button
 * @param {() => Promise<string> | string} read
 */
async function copy(button, read) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(await read());
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Could not copy';
  }
  setTimeout(() => (button.textContent = label), 1_500);
}
// Browsers give pages the clipboard over https and on this machine alone.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('.code')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy');
    button.addEventListener('click', () => void copy(button, () => commandsOf(block.querySelector('code'))));
    block.append(button);
  }
  const copyPage = /** @type {HTMLButtonElement} */ (document.querySelector('button.copy-page'));
  copyPage.hidden = false;
  copyPage.addEventListener(
    'click',
    () =>
      void copy(copyPage, async () => (await fetch(/** @type {string} */ (copyPage.dataset.href))).text()),
  );
}

/**
 * Returns a block's text; of a console with prompts the commands alone.
 *
 * @param {HTMLElement | null} code
 */
function commandsOf(code) {
  const text = code?.textContent ?? '';
  if (!/^\$ /m.test(text)) return text;
  /** @type {string[]} */
  const commands = [];
  let goesOn = false;
  for (const line of text.split('\n')) {
    if (!goesOn && !line.startsWith('$ ')) continue;
    commands.push(goesOn ? line : line.slice(2));
    goesOn = line.endsWith('\\');
  }
  return commands.join('\n');
}

// Tabs. All of them show the language that the reader has chosen last.
const groups = [...document.querySelectorAll('.tabs')].map((group) => {
  const panels = /** @type {HTMLElement[]} */ ([...group.querySelectorAll('.tab')]);
  const list = element('div', { role: 'tablist', class: 'tab-list' });
  const buttons = panels.map((panel) => {
    const name = /** @type {string} */ (panel.dataset.tab);
    const button = element('button', { type: 'button', role: 'tab' }, name);
    button.addEventListener('click', () => {
      keep('docs-tab', name);
      const top = group.getBoundingClientRect().top;
      for (const one of groups) one.show(name);
      // Groups above that became longer or shorter must not move this one away.
      scrollBy({ top: group.getBoundingClientRect().top - top, behavior: 'instant' });
    });
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-label', name);
    return button;
  });
  list.append(...buttons);
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (!step || index < 0) return;
    const next = buttons[(index + step + buttons.length) % buttons.length];
    next?.click();
    next?.focus();
  });
  group.prepend(list);
  /** @param {string} name */
  const show = (name) => {
    if (!panels.some((panel) => panel.dataset.tab === name)) return;
    panels.forEach((panel, index) => {
      const isShown = panel.dataset.tab === name;
      panel.hidden = !isShown;
      buttons[index]?.setAttribute('aria-selected', String(isShown));
      buttons[index]?.setAttribute('tabindex', isShown ? '0' : '-1');
    });
  };
  show(/** @type {string} */ (panels[0]?.dataset.tab));
  return { show };
});
const tab = kept('docs-tab');
if (tab) for (const group of groups) group.show(tab);

// Which part of the page is read.
const contents = new Map(
  [...document.querySelectorAll('.contents a')].map((link) => [link.getAttribute('href')?.slice(1), link]),
);
if (contents.size > 0) {
  const headings = [...document.querySelectorAll('article :is(h2, h3)[id]')];
  const mark = () => {
    const read =
      headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1) ?? headings[0];
    for (const [id, link] of contents) link.toggleAttribute('data-read', id === read?.id);
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

// The search.
/**
 * @typedef {[id: string, heading: string, text: string]} IndexedPart
 * @typedef {{ path: string, title: string, section: string, parts: IndexedPart[] }} IndexedPage
 */

const self = /** @type {HTMLScriptElement} */ (document.querySelector('script[data-search]'));
const searchButton = /** @type {HTMLButtonElement} */ (document.querySelector('button.search'));
/** @type {Promise<IndexedPage[]> | undefined} */
let index;
const loadIndex = () => (index ??= readIndex());
async function readIndex() {
  const answer = await fetch(/** @type {string} */ (self.dataset['search']));
  return /** @type {IndexedPage[]} */ (await answer.json());
}

const input = /** @type {HTMLInputElement} */ (
  element('input', {
    type: 'search',
    placeholder: 'Search the documentation',
    'aria-label': 'Search the documentation',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'results',
    autocomplete: 'off',
    spellcheck: 'false',
  })
);
const results = element('ul', { id: 'results', role: 'listbox', 'aria-label': 'Results' });
const status = element('p', { role: 'status' });
const dialog = /** @type {HTMLDialogElement} */ (
  element('dialog', { class: 'search-dialog', 'aria-label': 'Search' }, input, status, results)
);
document.body.append(dialog);
searchButton.hidden = false;
searchButton.addEventListener('click', openSearch);
searchButton.addEventListener('pointerenter', () => void loadIndex());
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = /** @type {HTMLElement} */ (event.target).closest('input, textarea, select');
  const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
  // Layouts without Latin letters have the full stop, or a letter, where a US keyboard has the slash.
  const isForeign = /^\P{ASCII}+$/u.test(key);
  const isSlash = key === '/' || (code === 'Slash' && !shiftKey && (isForeign || key === '.'));
  const isK = key === 'k' || (code === 'KeyK' && isForeign);
  const withControl = ctrlKey || metaKey;
  const isShortcut = isK ? withControl : isSlash && !isTyping && !withControl;
  // Windows tells of AltGr, which writes letters such as "ł", as Ctrl and Alt.
  if (!isShortcut || altKey || isComposing(event) || dialog.open) return;
  event.preventDefault();
  openSearch();
});

function openSearch() {
  void loadIndex();
  dialog.showModal();
  input.select();
}

let selected = 0;
input.addEventListener('input', () => void showResults());
input.addEventListener('keydown', (event) => {
  if (isComposing(event)) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && results.children.length > 0) {
    event.preventDefault();
    select((selected + step + results.children.length) % results.children.length);
  }
  if (event.key === 'Enter')
    /** @type {HTMLElement | null} */ (results.children[selected]?.querySelector('a'))?.click();
});
results.addEventListener('click', () => dialog.close());

/** @param {number} next */
function select(next) {
  results.children[selected]?.setAttribute('aria-selected', 'false');
  selected = next;
  const item = results.children[selected];
  item?.setAttribute('aria-selected', 'true');
  item?.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', item?.id ?? '');
}

const MAX_RESULTS = 20;

async function showResults() {
  const query = input.value;
  const words = query.toLowerCase().match(/[\p{L}\p{N}_.*/-]+/gu) ?? [];
  const pages = await loadIndex();
  // A later letter was typed while the index was loaded.
  if (query !== input.value) return;
  const found = words.length > 0 ? find(pages, words) : [];
  results.replaceChildren(
    ...found.slice(0, MAX_RESULTS).map(({ page, part: [id, heading, text] }, position) => {
      const link = element(
        'a',
        { href: id ? `${page.path}#${id}` : page.path, tabindex: '-1' },
        element(
          'span',
          { class: 'result-page' },
          page.section ? `${page.section} › ${page.title}` : page.title,
        ),
        element('strong', {}, ...marked(heading || page.title, words)),
        element('span', { class: 'result-text' }, ...marked(excerpt(text, words), words)),
      );
      return element('li', { role: 'option', id: `result-${position}`, 'aria-selected': 'false' }, link);
    }),
  );
  status.textContent = words.length > 0 && found.length === 0 ? 'Nothing was found.' : '';
  select(0);
}

/**
 * Finds the parts of pages that have every word, as the beginning of a word or inside one. Words in headings
 * count more than words in texts.
 *
 * @param {IndexedPage[]} pages
 * @param {string[]} words
 */
function find(pages, words) {
  const found = pages.flatMap((page) =>
    page.parts.map((part) => ({ page, part, score: scoreOf(page, part, words) })),
  );
  return found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
}

/**
 * @param {IndexedPage} page
 * @param {IndexedPart} part
 * @param {string[]} words
 */
function scoreOf(page, [id, heading, text], words) {
  const fields = /** @type {const} */ ([
    [heading.toLowerCase(), 12],
    [page.title.toLowerCase(), id ? 4 : 16],
    [text.toLowerCase(), 1],
  ]);
  let score = 0;
  for (const word of words) {
    let best = 0;
    for (const [field, weight] of fields) {
      const at = field.indexOf(word);
      if (at < 0) continue;
      const isBeginning = at === 0 || !/[\p{L}\p{N}]/u.test(field.charAt(at - 1));
      best += weight * (isBeginning ? 2 : 0.5);
      if (field === word) best += weight * 2;
    }
    if (best === 0) return 0;
    score += best;
  }
  // What readers of an API look for goes before what contributors do.
  return page.section === 'The project' ? score / 3 : score;
}

/**
 * @param {string} text
 * @param {string[]} words
 */
function excerpt(text, words) {
  const at = Math.min(
    ...words.map((word) => text.toLowerCase().indexOf(word)).filter((position) => position >= 0),
  );
  const from = Number.isFinite(at) ? Math.max(0, at - 40) : 0;
  return (from > 0 ? '…' : '') + text.slice(from, from + 140);
}

/**
 * @param {string} text
 * @param {string[]} words
 */
function marked(text, words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'gi'))
    .map((piece, position) => (position % 2 === 1 ? element('mark', {}, piece) : piece));
}
