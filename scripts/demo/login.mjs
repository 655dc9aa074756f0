import { randomBytes } from 'node:crypto';
import { LauncherError } from '../processes.mjs';

/**
 * A login to the dashboard.
 *
 * @typedef {{ url: string, email: string, password: string }} Login
 */

/**
 * Sets the owner's password with the link of a real invitation, as a person does.
 *
 * @param {import('./workspace.mjs').Invited} invited
 * @param {string} url of the dashboard
 * @returns {Promise<Login>}
 */
export async function acceptInvitation({ owner, link }, url) {
  const token = new URL(link).hash.slice(1);
  const password = randomBytes(12).toString('base64url');
  const response = await fetch(`${url}/api/links/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, password }),
  });
  if (response.ok) return { url, email: owner.email, password };
  throw new LauncherError(`The invitation was answered ${response.status}: ${await response.text()}`);
}
