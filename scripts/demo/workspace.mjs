import { LauncherError } from '../processes.mjs';

const SCOPES = 'conversations:read,conversations:write,messages:read,messages:write,contacts:read';

/**
 * Makes a workspace with its channels connected, as an operator would: with the CLI.
 *
 * @param {(...args: string[]) => Promise<any>} cli
 * @param {object} options
 * @param {string} options.receiverUrl
 * @param {import('./customers.mjs').Customer[]} options.customers
 */
export async function makeWorkspace(cli, { receiverUrl, customers }) {
  const workspace = await makeFirstOrNext(cli);
  const inWorkspace = ['--workspace', workspace.slug];
  const [, bot, key, ...connections] = await side(2, [
    () => cli('agent', 'create', ...inWorkspace, ...agent('Ada', 'OWNER')),
    () => cli('agent', 'create', ...inWorkspace, ...agent('Robo', 'AGENT'), '--bot'),
    () => cli('api-key', 'create', ...inWorkspace, '--name', 'demo', '--scopes', SCOPES),
    ...customers.map(({ channel, credentials }) => () => {
      const account = ['--channel', channel, '--credentials', JSON.stringify(credentials)];
      return cli('channel', 'connect', ...inWorkspace, ...account);
    }),
  ]);
  // Last, so that every run of the show gets the same webhooks.
  const endpoint = await cli('webhook', 'create', ...inWorkspace, '--url', receiverUrl, '--events', '*');
  return { workspace, bot, key, connections, endpoint };
}

function agent(name, role) {
  return ['--name', name, '--email', `${name.toLowerCase()}@example.com`, '--role', role];
}

/** The workspace `demo`, or, where an earlier demo has left one, another beside it. */
async function makeFirstOrNext(cli) {
  const make = (/** @type {string} */ slug) =>
    cli('workspace', 'create', '--name', 'Demo', '--slug', slug, '--plan', 'ENTERPRISE');
  try {
    return await make('demo');
  } catch (error) {
    if (!(error instanceof LauncherError)) throw error;
    return make(`demo-${Date.now().toString(36)}`);
  }
}

/**
 * Runs tasks side by side, so many at once: each is a process that keeps a core busy.
 *
 * @template T
 * @param {number} width
 * @param {(() => Promise<T>)[]} tasks
 * @returns {Promise<T[]>} their results, in the tasks' order
 */
async function side(width, tasks) {
  const results = [];
  const waiting = tasks.entries();
  const work = async () => {
    for (const [index, task] of waiting) results[index] = await task();
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}
