import { LauncherError } from '../processes.mjs';

const SCOPES = 'conversations:read,conversations:write,messages:read,messages:write,contacts:read';

const CONTACTS = [
  ['--name', 'Zoë Laurent', '--email', 'zoe@example.com', '--phone', '+33 6 12 34 56 78'],
  ['--name', 'Marco Rossi', '--email', 'marco@example.com'],
  ['--name', 'Олена Коваль', '--phone', '+380 44 123 45 67'],
];

/** Each channel and whose conversation it is, by the place in CONTACTS. */
const CONVERSATIONS = [
  ['WHATSAPP', 0],
  ['WIDGET', 1],
  ['TELEGRAM', 2],
  ['MESSENGER', 0],
  ['INSTAGRAM', 1],
];

/**
 * Makes a workspace with something in it, as an operator would: with the CLI.
 *
 * @param {(...args: string[]) => Promise<any>} cli
 * @param {string} receiverUrl
 */
export async function makeWorkspace(cli, receiverUrl) {
  const workspace = await makeFirstOrNext(cli);
  const inWorkspace = ['--workspace', workspace.slug];
  const [, bot, key, ...contacts] = await side(2, [
    () =>
      cli(
        'agent',
        'create',
        ...inWorkspace,
        '--name',
        'Ada',
        '--email',
        'ada@example.com',
        '--role',
        'OWNER',
      ),
    () =>
      cli(
        'agent',
        'create',
        ...inWorkspace,
        '--name',
        'Robo',
        '--email',
        'robo@example.com',
        '--role',
        'AGENT',
        '--bot',
      ),
    () => cli('api-key', 'create', ...inWorkspace, '--name', 'demo', '--scopes', SCOPES),
    ...CONTACTS.map((fields) => () => cli('contact', 'create', ...inWorkspace, ...fields)),
  ]);
  const conversations = await side(
    2,
    CONVERSATIONS.map(([channel, contact]) => () => {
      const id = contacts[contact].id;
      return cli('conversation', 'create', ...inWorkspace, '--contact', id, '--channel', channel);
    }),
  );
  // Last, so that every run of the show gets the same webhooks.
  const endpoint = await cli('webhook', 'create', ...inWorkspace, '--url', receiverUrl, '--events', '*');
  return { workspace, bot, key, endpoint, conversations };
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
