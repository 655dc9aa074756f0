import { stdout } from 'node:process';

const WIDTH = 120;

/** @param {number} code of an ANSI colour; ignored unless the output is a terminal */
const colour = (code) => (text) =>
  stdout.isTTY && !process.env.NO_COLOR ? `\u001b[${code}m${text}\u001b[0m` : text;

export const bold = colour(1);
export const dim = colour(2);
export const green = colour(32);
export const red = colour(31);
export const cyan = colour(36);

export const title = (text) => console.log(`\n${bold(text)}`);

export const note = (text) => console.log(dim(text));

/** Pads cells by their width on a terminal. */
export function printRow(widths, cells) {
  const padded = cells.map(
    (cell, index) => cell + ' '.repeat(Math.max((widths[index] ?? 0) - columns(cell), 0)),
  );
  console.log(`  ${padded.join('').trimEnd()}`);
}

/** An emoji takes two columns. */
const columns = (text) =>
  [...text].reduce((width, character) => width + (/\p{Emoji_Presentation}/u.test(character) ? 2 : 1), 0);

export function printRequest({ method, path, headers = {}, body }) {
  console.log(`\n${cyan('→')} ${bold(method)} ${path}`);
  for (const [name, value] of Object.entries(headers)) console.log(dim(`  ${name}: ${value}`));
  if (body !== undefined) console.log(indent(json(body)));
}

export function printAnswer({ status, headers = [], body }) {
  console.log(`${cyan('←')} ${(status < 400 ? green : red)(String(status))}`);
  for (const line of headers) console.log(dim(`  ${line}`));
  console.log(indent(json(body)));
}

/** @param {import('./receiver.mjs').Delivery} delivery */
export function printDelivery({ headers, body, verified, verifiedByLibrary }) {
  const verdict = (good) => (good ? green('verified') : red('NOT VERIFIED'));
  console.log(`${cyan('⇠')} webhook ${bold(body.event)}`);
  console.log(`  x-service-signature: ${dim(short(headers['x-service-signature']))}  ${verdict(verified)}`);
  console.log(
    `  webhook-signature:   ${dim(short(headers['webhook-signature']))}  ${verdict(verifiedByLibrary)} ${dim('(standardwebhooks)')}`,
  );
  console.log(indent(json(body)));
}

const short = (text) => (text ? `${text.slice(0, 23)}…` : 'missing');

const indent = (text) => text.replace(/^/gm, '  ');

/** Keeps on one line what fits there, so that a list reads as rows. */
function json(value, margin = '') {
  const line = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
  if (line.length + margin.length <= WIDTH || typeof value !== 'object') return line;
  const inner = `${margin}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((item) => inner + json(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${json(item, inner)}`);
  return `${open}\n${parts.join(',\n')}\n${margin}${close}`;
}
