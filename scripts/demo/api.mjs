import { LauncherError } from '../processes.mjs';
import { printAnswer, printRequest } from './print.mjs';

const INTERESTING_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining'];

/** The REST API, with a key. Throws at any answer that is not the expected one. */
export class Api {
  /**
   * @param {string} url
   * @param {string} key
   */
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  /** Sends one request and prints it with its answer. */
  show(method, path, { headers, body, ...options } = {}) {
    printRequest({ method, path: `/api/v1${path}`, headers, body });
    return this.send(method, path, { headers, body, ...options, print: true });
  }

  /** Sends one request. */
  async send(method, path, { headers = {}, body = undefined, expect = 200, print = false } = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    if (print) {
      const lines = INTERESTING_HEADERS.filter((name) => response.headers.has(name)).map(
        (name) => `${name}: ${response.headers.get(name)}`,
      );
      printAnswer({ status: response.status, headers: lines, body: answer });
    }
    if (response.status === expect) return answer;
    const said = answer.error?.message ?? '';
    throw new LauncherError(`${method} ${path} was answered with ${response.status}, not ${expect}. ${said}`);
  }
}
