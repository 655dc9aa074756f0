import { LauncherError } from '../processes.mjs';
import { printAnswer, printRequest } from './print.mjs';

const INTERESTING_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining'];

/** Calls the REST API with a key. Throws on an unexpected response. */
export class Api {
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  /** Sends a request and prints it with the response. */
  show(method, path, { headers, body, ...options } = {}) {
    printRequest({ method, path: `/api/v1${path}`, headers, body });
    return this.send(method, path, { headers, body, ...options, print: true });
  }

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
    const message = answer.error?.message ?? '';
    throw new LauncherError(
      `${method} ${path} was answered with ${response.status}, not ${expect}. ${message}`,
    );
  }
}
