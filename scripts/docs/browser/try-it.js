// Sends the forms that call an operation, and shows the answers.
import { element } from './site.js';

/** Name under which the tab keeps the key, so that it need not be entered in each form. */
const KEY = 'docs-api-key';
/** Headers of an answer that say something about the call. */
const SHOWN_HEADERS = ['x-request-id', 'x-ratelimit-remaining', 'retry-after', 'idempotency-replayed'];

const forms = /** @type {HTMLFormElement[]} */ ([...document.querySelectorAll('.try form')]);

/** @param {HTMLFormElement} form */
const keyOf = (form) => /** @type {HTMLInputElement} */ (form.elements.namedItem('key'));

/** @param {string} key */
function shareKey(key) {
  for (const form of forms) keyOf(form).value = key;
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // The key stays in the forms of this page.
  }
}

/** @returns {string} */
function keptKey() {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

/**
 * Returns the address of a form's request: its path and query with what was entered.
 *
 * @param {HTMLFormElement} form
 */
function addressOf(form) {
  let path = /** @type {string} */ (form.dataset['path']);
  const query = new URLSearchParams();
  for (const input of form.elements) {
    if (!(input instanceof HTMLInputElement) || !input.dataset['in']) continue;
    const value = input.value.trim();
    if (input.dataset['in'] === 'path') path = path.replace(`{${input.name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(input.name, value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const key = keyOf(form).value.trim();
  shareKey(key);
  const body = /** @type {HTMLTextAreaElement | null} */ (form.elements.namedItem('body'));
  const answer = await fetch(addressOf(form), {
    method: form.dataset['method'],
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: body.value }),
    credentials: 'omit',
  });
  const text = await answer.text();
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  return `${answer.status} ${answer.statusText}\n${headers.join('\n')}\n\n${pretty(text)}`;
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

for (const form of forms) {
  const output = /** @type {HTMLOutputElement} */ (form.querySelector('output'));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button[type="submit"]'));
  const show = (/** @type {string} */ text) => {
    output.hidden = false;
    output.replaceChildren(element('pre', { tabindex: '0' }, text));
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    send(form)
      .then(show, (/** @type {Error} */ error) => show(`The request failed: ${error.message}`))
      .finally(() => (button.disabled = false));
  });
}
shareKey(keptKey());
