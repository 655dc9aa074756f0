import { randomBytes } from 'node:crypto';
import { LauncherError } from '../processes.mjs';

/** A person who is logged in to the dashboard, and uses its routes as the dashboard's pages do. */
export class Login {
  /**
   * @param {object} options
   * @param {string} options.url of the dashboard
   * @param {string} options.email
   * @param {string} options.password
   * @param {string} options.cookie of the session
   * @param {{ id: string, tenantId: string }} options.agent
   */
  constructor({ url, email, password, cookie, agent }) {
    this.url = url;
    this.email = email;
    this.password = password;
    this.cookie = cookie;
    this.agent = agent;
  }

  /**
   * Sets an agent's password with the link of a real invitation, as a person does.
   *
   * @param {{ id: string, tenantId: string, email: string }} agent
   * @param {string} link
   * @param {string} url of the dashboard
   */
  static async accept(agent, link, url) {
    const token = new URL(link).hash.slice(1);
    const password = randomBytes(12).toString('base64url');
    const response = await send(`${url}/api/links/accept`, 'POST', { token, password }, { origin: url });
    const cookie = response.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
    return new Login({ url, email: agent.email, password, cookie: cookie.join('; '), agent });
  }

  /**
   * Calls a route of the workspace.
   *
   * @template Answer the body of the response
   * @param {'GET' | 'POST' | 'PATCH' | 'PUT'} method
   * @param {string} path below the workspace's
   * @param {object} [body]
   * @returns {Promise<Answer>}
   */
  async call(method, path, body) {
    const address = `${this.url}/api/workspaces/${this.agent.tenantId}${path}`;
    const response = await send(address, method, body, { origin: this.url, cookie: this.cookie });
    return /** @type {Promise<Answer>} */ (response.json());
  }
}

/**
 * @param {string} url
 * @param {string} method
 * @param {object | undefined} body
 * @param {Record<string, string>} headers
 */
async function send(url, method, body, headers) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  if (response.ok) return response;
  throw new LauncherError(`${method} ${url} was answered ${response.status}: ${await response.text()}`);
}
