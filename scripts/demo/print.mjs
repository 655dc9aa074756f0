import { stdout } from 'node:process';

const WIDTH = 120;

/**
 * Makes a text coloured, if the output is a terminal.
 *
 * @param {number} code of an ANSI colour
 * @returns {(text: string) => string}
 */
const colour = (code) => (text) =>
  stdout.isTTY && !process.env.NO_COLOR ? `\u001b[${code}m${text}\u001b[0m` : text;

export const bold = colour(1);
export const dim = colour(2);
export const green = colour(32);
export const red = colour(31);
export const cyan = colour(36);

export const title = (/** @type {string} */ text) => console.log(`\n${bold(text)}`);

export const note = (/** @type {string} */ text) => console.log(dim(text));

/**
 * Prints cells, padded by their width on a terminal.
 *
 * @param {number[]} widths
 * @param {string[]} cells
 */
export function printRow(widths, cells) {
  const padded = cells.map(
    (cell, index) => cell + ' '.repeat(Math.max((widths[index] ?? 0) - columns(cell), 0)),
  );
  console.log(`  ${padded.join('').trimEnd()}`);
}

/**
 * Returns the columns of a text on a terminal: an emoji takes two.
 *
 * @param {string} text
 */
const columns = (text) =>
  [...text].reduce((width, character) => width + (/\p{Emoji_Presentation}/u.test(character) ? 2 : 1), 0);

/** @param {{ method: string, path: string, headers?: Record<string, string>, body?: object }} request */
export function printRequest({ method, path, headers = {}, body }) {
  console.log(`\n${cyan('→')} ${bold(method)} ${path}`);
  for (const [name, value] of Object.entries(headers)) console.log(dim(`  ${name}: ${value}`));
  if (body !== undefined) console.log(indent(json(body)));
}

/**
 * @param {object} answer
 * @param {number} answer.status
 * @param {string[]} answer.headers as lines
 * @param {unknown} answer.body
 */
export function printAnswer({ status, headers, body }) {
  console.log(`${cyan('←')} ${(status < 400 ? green : red)(String(status))}`);
  for (const line of headers) console.log(dim(`  ${line}`));
  console.log(indent(json(body)));
}

/** @param {import('./receiver.mjs').Delivery} delivery */
export function printDelivery({ headers, body, verified, verifiedByLibrary }) {
  const verdict = (/** @type {boolean} */ good) => (good ? green('verified') : red('NOT VERIFIED'));
  console.log(`${cyan('⇠')} webhook ${bold(body.event)}`);
  console.log(`  x-service-signature: ${dim(short(headers['x-service-signature']))}  ${verdict(verified)}`);
  console.log(
    `  webhook-signature:   ${dim(short(headers['webhook-signature']))}  ${verdict(verifiedByLibrary)} ${dim('(standardwebhooks)')}`,
  );
  console.log(indent(json(body)));
}

/** @param {string | string[] | undefined} header */
const short = (header) => (header ? `${String(header).slice(0, 23)}…` : 'missing');

const indent = (/** @type {string} */ text) => text.replace(/^/gm, '  ');

/**
 * Returns JSON that keeps on one line what fits there, so that a list reads as rows.
 *
 * @param {unknown} value
 * @returns {string}
 */
function json(value, margin = '') {
  const line = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
  if (line.length + margin.length <= WIDTH || typeof value !== 'object' || value === null) return line;
  const inner = `${margin}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((item) => inner + json(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${json(item, inner)}`);
  return `${open}\n${parts.join(',\n')}\n${margin}${close}`;
}
