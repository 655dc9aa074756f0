import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SignJWT } from 'jose';
import { freePort, isPortFree, LauncherError, requireValue } from '../processes.mjs';
import { note, title } from './print.mjs';
import { VisitorPage } from './visitor-page.mjs';

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { ConnectedChannel } from 'conversation-messaging-service' */

/**
 * Parts of a widget's connection that the shop's page needs.
 *
 * @typedef {{ snippet: string, host: string, secret: string }} Widget
 */

const WANTED_PORT = 8080;
const FILES = new Map([
  ['/shop.css', { type: 'text/css', text: read('shop.css') }],
  ['/page.mjs', { type: 'text/javascript', text: read('page.mjs') }],
]);
const PAGE = read('index.html');
const MARCO = { id: 'customer-1043', name: 'Marco Bianchi', email: 'marco.bianchi@example.com' };

/** @param {string} name */
function read(name) {
  return readFileSync(new URL(`shop/${name}`, import.meta.url), 'utf8');
}

/** A workspace's shop: a page with the widget, at an origin of its own. Its server signs who is logged in. */
export class Shop {
  origin = '';
  /** @type {Widget | undefined} */
  #widget;
  #server = createServer((request, response) => void this.#answer(request, response));

  /** Starts the server of a shop. Pages are there once `showWidget` is called. */
  static async open() {
    const shop = new Shop();
    const port = (await isPortFree(WANTED_PORT, '127.0.0.1')) ? WANTED_PORT : await freePort();
    shop.#server.listen(port, '127.0.0.1');
    await once(shop.#server, 'listening');
    shop.origin = `http://localhost:${port}`;
    return shop;
  }

  /**
   * Puts the widget into the page.
   *
   * @param {ConnectedChannel} connection
   */
  showWidget({ snippet, hookUrl, reveal }) {
    this.#widget = {
      snippet: requireValue(snippet, 'snippet'),
      host: new URL(hookUrl).origin,
      secret: requireValue(reveal.identitySecret, 'identity secret'),
    };
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #answer({ url = '' }, response) {
    const { pathname, searchParams } = new URL(url, this.origin);
    const file = FILES.get(pathname);
    if (file) return send(response, 200, file.type, file.text);
    if (pathname !== '/' || !this.#widget) return send(response, 404, 'text/plain', 'Not found');
    const { snippet, host, secret } = this.#widget;
    const visitor = searchParams.has('signed-in') ? await sign(MARCO, secret) : '';
    const page = PAGE.replace('{{snippet}}', snippet).replace('{{visitor}}', visitor);
    return send(response, 200, 'text/html', page, { 'content-security-policy': policy(host) });
  }
}

/**
 * Shows the widget in the shop: the page and its scripts load, and a visitor who writes there gets the bot's
 * answer.
 *
 * @param {Shop} shop
 * @param {ConnectedChannel} connection
 */
export async function showShop(shop, connection) {
  title('The shop has the widget in its page. A visitor writes, and the bot answers through the API');
  shop.showWidget(connection);
  const page = await load(shop.origin);
  const script = /<script async src="([^"]+)"/.exec(page)?.[1];
  if (!script) throw new LauncherError('The shop page has no snippet of the widget.');
  await load(script);
  note(`  ${connection.snippet}`);
  const visitor = await VisitorPage.open({ url: connection.hookUrl, origin: shop.origin });
  const question = 'Hello, do you ship to Norway?';
  await visitor.post('messages', { clientMessageId: randomUUID(), body: question, name: 'Nora Berg' });
  const answer = await visitor.firstMessage();
  console.log(`  a visitor: ${question}\n  ${answer.senderName}: ${answer.text}`);
}

/**
 * Returns a strict content security policy for the shop's page: of the service, it needs the scripts and the
 * API, and nothing else.
 *
 * @param {string} host
 */
function policy(host) {
  return [
    "default-src 'none'",
    `script-src 'self' ${host}`,
    `connect-src ${host}`,
    "style-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/**
 * Signs who is logged in, for a few minutes: a new page has a new token.
 *
 * @param {{ id: string, name: string, email: string }} visitor
 * @param {string} secret
 */
function sign({ id, ...claims }, secret) {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(id)
    .setExpirationTime('5 min')
    .sign(Buffer.from(secret));
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} type
 * @param {string} text
 * @param {Record<string, string>} headers
 */
function send(response, status, type, text, headers = {}) {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(text);
}

/** @param {string} url */
async function load(url) {
  const answer = await fetch(url);
  if (answer.ok) return answer.text();
  throw new LauncherError(`${url} was answered with ${answer.status}, not 200.`);
}
