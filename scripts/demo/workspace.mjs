import { LauncherError } from '../processes.mjs';
import { acceptInvitation } from './login.mjs';

const SCOPES = 'conversations:read,conversations:write,messages:read,messages:write,contacts:read';

/**
 * Makes a workspace and connects its channels with the CLI, as an operator does.
 *
 * @param {(...args: string[]) => Promise<any>} cli
 * @param {object} options
 * @param {string} options.receiverUrl
 * @param {import('./customers.mjs').Customer[]} options.customers
 * @param {string} options.dashboardUrl
 */
export async function makeWorkspace(cli, { receiverUrl, customers, dashboardUrl }) {
  const workspace = await makeFirstOrNext(cli);
  const inWorkspace = ['--workspace', workspace.slug];
  const [owner, bot, key, ...connections] = await runAtOnce(2, [
    () => cli('agent', 'create', ...inWorkspace, ...agent(workspace, 'Ada', 'OWNER')),
    () => cli('agent', 'create', ...inWorkspace, ...agent(workspace, 'Robo', 'AGENT'), '--bot'),
    () => cli('api-key', 'create', ...inWorkspace, '--name', 'demo', '--scopes', SCOPES),
    ...customers.map(({ channel, credentials }) => () => {
      const account = ['--channel', channel, '--credentials', JSON.stringify(credentials)];
      return cli('channel', 'connect', ...inWorkspace, ...account);
    }),
  ]);
  const login = await acceptInvitation(cli, { workspace, owner, url: dashboardUrl });
  // Last, so that every run gets the same webhooks.
  const endpoint = await cli('webhook', 'create', ...inWorkspace, '--url', receiverUrl, '--events', '*');
  return { workspace, login, bot, key, connections, endpoint };
}

/** Another address in each workspace: a person who has a password already would have to type it. */
function agent({ slug }, name, role) {
  const email = `${name.toLowerCase()}@${slug}.example.com`;
  return ['--name', name, '--display-name', name, '--email', email, '--role', role];
}

/** The workspace `demo`, or another one if an earlier run has made it. */
async function makeFirstOrNext(cli) {
  const make = (slug) => cli('workspace', 'create', '--name', 'Demo', '--slug', slug, '--plan', 'ENTERPRISE');
  try {
    return await make('demo');
  } catch (error) {
    if (!(error instanceof LauncherError)) throw error;
    return make(`demo-${Date.now().toString(36)}`);
  }
}

/** Runs at most `width` tasks at once, because each keeps a core busy. Returns the results in the tasks' order. */
async function runAtOnce(width, tasks) {
  const results = [];
  const waiting = tasks.entries();
  const work = async () => {
    for (const [index, task] of waiting) results[index] = await task();
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}
