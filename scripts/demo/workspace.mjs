import { LauncherError } from '../processes.mjs';

/** @import { Agent, ConnectedChannel, CreatedApiKey } from 'conversation-messaging-service' */
/** @import { CreatedWebhookEndpoint, Workspace } from 'conversation-messaging-service' */
/** @import { Customer } from './customers.mjs' */

/**
 * Runs a command of the CLI. Returns the JSON object that it prints.
 *
 * @typedef {<Result>(...args: string[]) => Promise<Result>} Cli
 */

/**
 * A customer, and the connection of their channel.
 *
 * @typedef {{ customer: Customer, connection: ConnectedChannel }} Connected
 */

/**
 * The parts of a workspace that the demo shows.
 *
 * @typedef {object} Made
 * @property {Workspace} workspace
 * @property {Agent} bot
 * @property {CreatedApiKey} key
 * @property {Connected[]} connections
 * @property {CreatedWebhookEndpoint} endpoint
 */

const SCOPES = 'conversations:read,conversations:write,messages:read,messages:write,contacts:read';

/**
 * Makes a workspace and invites its owner with the CLI, as an operator does.
 *
 * @param {Cli} cli
 * @returns {Promise<Invited>}
 *
 * @typedef {{ workspace: Workspace, owner: Agent, link: string }} Invited
 */
export async function inviteOwner(cli) {
  const workspace = await makeFirstOrNext(cli);
  const inWorkspace = ['--workspace', workspace.slug];
  /** @type {Agent} */
  const owner = await cli('agent', 'create', ...inWorkspace, ...agent(workspace, 'Ada', 'OWNER'));
  /** @type {{ link: string }} */
  const { link } = await cli('agent', 'invite', ...inWorkspace, '--agent', owner.id);
  return { workspace, owner, link };
}

/**
 * Makes the rest of a workspace, and connects its channels.
 *
 * @param {Cli} cli
 * @param {Workspace} workspace
 * @param {object} options
 * @param {string} options.receiverUrl
 * @param {Customer[]} options.customers
 * @returns {Promise<Made>}
 */
export async function fillWorkspace(cli, workspace, { receiverUrl, customers }) {
  const inWorkspace = ['--workspace', workspace.slug];
  // Two at a time, because each command keeps a core busy.
  const [[bot, key], connections] = await Promise.all([
    makeBotAndKey(cli, workspace),
    connectInTurn(cli, workspace, customers),
  ]);
  // Last, so that every run gets the same webhooks.
  const endpoint = await cli(
    'webhook',
    'create',
    ...inWorkspace,
    '--url',
    receiverUrl,
    '--events',
    '*',
    '--automatic-recovery',
  );
  return { workspace, bot, key, connections, endpoint };
}

/**
 * Makes a bot and a key.
 *
 * @param {Cli} cli
 * @param {Workspace} workspace
 * @returns {Promise<[bot: Agent, key: CreatedApiKey]>}
 */
async function makeBotAndKey(cli, workspace) {
  const inWorkspace = ['--workspace', workspace.slug];
  return [
    await cli('agent', 'create', ...inWorkspace, ...agent(workspace, 'Robo', 'AGENT'), '--bot'),
    await cli('api-key', 'create', ...inWorkspace, '--name', 'demo', '--scopes', SCOPES),
  ];
}

/**
 * Connects the customers' channels.
 *
 * @param {Cli} cli
 * @param {Workspace} workspace
 * @param {Customer[]} customers
 */
async function connectInTurn(cli, workspace, customers) {
  /** @type {Connected[]} */
  const connections = [];
  for (const customer of customers) {
    const account = ['--channel', customer.channel, '--credentials', JSON.stringify(customer.credentials)];
    /** @type {ConnectedChannel} */
    const connection = await cli('channel', 'connect', '--workspace', workspace.slug, ...account);
    connections.push({ customer, connection });
  }
  return connections;
}

/**
 * Returns the options of an agent, with another address in each workspace: a person who has a password
 * already would have to type it.
 *
 * @param {Workspace} workspace
 * @param {string} name
 * @param {'OWNER' | 'AGENT'} role
 */
function agent({ slug }, name, role) {
  const email = `${name.toLowerCase()}@${slug}.example.com`;
  return ['--name', name, '--display-name', name, '--email', email, '--role', role];
}

/**
 * Makes the workspace `demo`, or another one if an earlier run has made it.
 *
 * @param {Cli} cli
 * @returns {Promise<Workspace>}
 */
async function makeFirstOrNext(cli) {
  /** @returns {Promise<Workspace>} */
  const make = (/** @type {string} */ slug) =>
    cli('workspace', 'create', '--name', 'Demo', '--slug', slug, '--plan', 'ENTERPRISE');
  try {
    return await make('demo');
  } catch (error) {
    if (!(error instanceof LauncherError)) throw error;
    return make(`demo-${Date.now().toString(36)}`);
  }
}
