import { randomBytes } from 'node:crypto';
import { LauncherError } from '../processes.mjs';

/** @import { Agent, Workspace } from 'conversation-messaging-service' */

/**
 * A login to the dashboard.
 *
 * @typedef {{ url: string, email: string, password: string }} Login
 */

/**
 * Sets the owner's password with the link of a real invitation, as a person does.
 *
 * @param {import('./workspace.mjs').Cli} cli
 * @param {{ workspace: Workspace, owner: Agent, url: string }} options `url` is the dashboard's
 * @returns {Promise<Login>}
 */
export async function acceptInvitation(cli, { workspace, owner, url }) {
  /** @type {{ link: string }} */
  const { link } = await cli('agent', 'invite', '--workspace', workspace.slug, '--agent', owner.id);
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
