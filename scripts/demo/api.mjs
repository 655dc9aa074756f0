import { LauncherError } from '../processes.mjs';
import { printAnswer, printRequest } from './print.mjs';

/**
 * @typedef {'GET' | 'POST' | 'PATCH'} Method
 *
 * @typedef {object} Request
 * @property {Record<string, string>} [headers]
 * @property {object} [body]
 * @property {number} [expect] the status of the response, 200 by default
 */

const INTERESTING_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining'];

/** Calls the REST API with a key. Throws on an unexpected response. */
export class Api {
  /**
   * @param {string} url
   * @param {string} key
   */
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  /**
   * Sends a request and prints it with the response.
   *
   * @template Answer the body of the response
   * @param {Method} method
   * @param {string} path
   * @param {Request} [request]
   * @returns {Promise<Answer>}
   */
  async show(method, path, request = {}) {
    const { headers, body } = request;
    printRequest({ method, path: `/api/v1${path}`, headers, body });
    return this.send(method, path, request, true);
  }

  /**
   * Uploads a file for a message.
   *
   * @param {{ conversationId: string, name: string, content: Buffer }} file
   * @returns {Promise<string>} the id of the upload
   */
  async upload({ conversationId, name, content }) {
    const body = { conversationId, name, size: content.length };
    /** @type {{ id: string }} */
    const { id } = await this.send('POST', '/uploads', { body, expect: 201 });
    const answer = await fetch(`${this.url}/uploads/${id}/content`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(content),
    });
    if (!answer.ok) throw new LauncherError(`The upload was answered with ${answer.status}.`);
    return id;
  }

  /**
   * Sends a request.
   *
   * @template Answer the body of the response
   * @param {Method} method
   * @param {string} path
   * @param {Request} [request]
   * @param {boolean} [print] whether to print the response
   * @returns {Promise<Answer>}
   */
  async send(method, path, { headers = {}, body, expect = 200 } = {}, print = false) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body && JSON.stringify(body),
    });
    const answer = /** @type {Answer & { error?: { message: string } }} */ (await response.json());
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
