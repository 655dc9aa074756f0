// `npm run demo`: the whole service on this machine, with simulated providers, customers and a webhook
// receiver.
import { mkdirSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { HOST, runCli, startApp, startDashboard, startMigratedServers } from './app.mjs';
import { makeCertificates } from './certificates.mjs';
import { Api } from './demo/api.mjs';
import { Bot } from './demo/bot.mjs';
import { acknowledgeMessages } from './demo/channels.mjs';
import { makeCustomers } from './demo/customers.mjs';
import { fillInbox } from './demo/inbox.mjs';
import { Login } from './demo/login.mjs';
import { Outage } from './demo/outage.mjs';
import { bold, cyan, green, note, printDelivery, title } from './demo/print.mjs';
import { Receiver } from './demo/receiver.mjs';
import { show } from './demo/show.mjs';
import { Shop, showShop } from './demo/shop.mjs';
import { startSimulators } from './demo/simulators.mjs';
import { fillWorkspace, inviteOwner } from './demo/workspace.mjs';
import { freePort, isPortFree, LauncherError, requireValue, runLauncher } from './processes.mjs';
import { DATA_DIR } from './servers/home.mjs';

/** @import { ConversationListItem, Page } from 'conversation-messaging-service' */
/** @import { Running } from './app.mjs' */
/** @import { Customers } from './demo/customers.mjs' */
/** @import { Cli, Invited, Made } from './demo/workspace.mjs' */
/** @import { Servers } from './servers.mjs' */

/**
 * The processes of the demo, and those who use them.
 *
 * @typedef {object} Stage
 * @property {Running} app
 * @property {NodeJS.ProcessEnv} env
 * @property {Receiver} receiver
 * @property {string} receiverUrl
 * @property {Shop} shop
 * @property {Customers} customers
 * @property {Invited} invited
 * @property {Login} login
 */

const once = process.argv.includes('--once');
const folder = join(DATA_DIR, 'demo');

/** @type {Servers | undefined} */
let running;

async function run() {
  title(
    "Starting PostgreSQL, Redis, the service, a receiver of webhooks, and simulators of the channels' providers",
  );
  const [started, simulators, certificate] = await Promise.all([
    startMigratedServers(note).then((result) => ((running = result.servers), result)),
    startSimulators(join(folder, 'compiled')),
    makeCertificates(folder, ['127.0.0.1']),
  ]);
  const { servers } = started;
  const port = await choosePort('PORT', 3000);
  const dashboardPort = await choosePort('DASHBOARD_PORT', 3100);
  const env = {
    ...started.env,
    ROLE: 'all',
    APP_URL: `http://localhost:${dashboardPort}`,
    TELEGRAM_API_URL: simulators.telegram.url,
    META_GRAPH_URL: simulators.graphUrl,
    INSTAGRAM_GRAPH_URL: simulators.instagram.url,
    // Allows webhooks to this machine; by default a receiver needs a public address.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32',
    WEBHOOK_EXTRA_CA_FILE: certificate.caFile,
  };
  const receiver = new Receiver(certificate);
  const receiverUrl = await receiver.listen();
  const options = { servers, env, port: dashboardPort, publicUrl: `http://localhost:${port}` };
  note('the servers run and are migrated; a workspace and its owner are made while the service starts');
  const [app, dashboard, shop, invited] = await Promise.all([
    startApp({ servers, env, port, log: openSync(join(folder, 'service.log'), 'w') }),
    startDashboard({ ...options, log: openSync(join(folder, 'dashboard.log'), 'w') }),
    Shop.open(),
    inviteOwner((...args) => runCli(args, env)),
  ]);
  const login = await Login.accept(invited.owner, invited.link, dashboard.url);
  title(`Log in at ${cyan(login.url)} as ${bold(login.email)} with the password ${bold(login.password)}`);
  note(`API ${app.url}/api/v1, dashboard ${dashboard.url}, receiver ${receiverUrl}, shop ${shop.origin}`);
  note(`logs in ${relative('', folder)}`);
  const customers = makeCustomers(simulators, shop.origin);
  await Promise.race([
    demonstrate({ app, env, receiver, receiverUrl, shop, customers, invited, login }),
    app.failed,
    dashboard.failed,
    servers.failed,
  ]);
}

/** @param {Stage} stage */
async function demonstrate({ app, env, receiver, receiverUrl, shop, customers, invited, login }) {
  /** @type {Cli} */
  const cli = (...args) => runCli(args, env);
  title('Filling the workspace with the CLI: a bot, a key, an account on each channel, a webhook endpoint');
  const made = await fillWorkspace(cli, invited.workspace, { receiverUrl, customers: customers.all });
  receiver.useSecret(made.endpoint.secret);
  await Promise.all(made.connections.map(({ customer, connection }) => customer.connected(connection)));
  note(`workspace ${made.workspace.slug}, key ${made.key.key}`);

  const api = new Api(`${app.url}/api/v1`, made.key.key);
  await show({ ...made, api, customers: customers.all, receiver, cli });
  new Bot({ api, agentId: made.bot.id }).listenTo(receiver);
  for (const { connection } of made.connections)
    if (connection.channel === 'WIDGET') await showShop(shop, connection);
  const colleague = await fillInbox({ api, customers, ada: login });
  printSummary(receiver);
  if (once) return;
  await printCommands({ ...made, login, colleague, api, cli, customers, shop, docsUrl: `${app.url}/docs` });
  receiver.on('delivery', (delivery) => {
    console.log();
    printDelivery(delivery);
  });
  const { workspace, endpoint } = made;
  const outage = new Outage({
    receiver,
    owner: login,
    endpointId: endpoint.id,
    page: `${login.url}/w/${workspace.slug}/settings/webhooks/${endpoint.id}`,
    customer: customers.telegram,
  });
  await Promise.all([
    outage.obey(process.stdin),
    acknowledgeMessages(customers.all, ({ channel }, text) => {
      console.log(`\n${cyan('⇢')} the customer on ${bold(channel)} gets: ${text}`);
    }),
  ]); // until Ctrl-C
}

/**
 * Prints how many webhooks came. Also checks the signatures of those that no step waited for.
 *
 * @param {Receiver} receiver
 */
function printSummary({ deliveries }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { body } of deliveries) counts.set(body.event, (counts.get(body.event) ?? 0) + 1);
  const forged = deliveries.filter(({ verified, verifiedByLibrary }) => !verified || !verifiedByLibrary);
  if (forged.length > 0)
    throw new LauncherError(`${forged.length} webhooks came with a signature that does not match.`);
  title('Everything arrived and every signature is right');
  for (const [event, count] of counts) console.log(`  ${green('✓')} ${count} × ${event}`);
}

/**
 * @param {Pick<Made, 'workspace'> & Pick<Stage, 'customers' | 'login' | 'shop'> & { api: Api, cli: Cli,
 *   colleague: Login, docsUrl: string }} made
 */
async function printCommands({ api, cli, workspace, login, colleague, customers, shop, docsUrl }) {
  const { url, key } = api;
  const { telegram } = customers;
  /** @type {Page<ConversationListItem>} */
  const { data } = await api.send('GET', '/conversations?channel=TELEGRAM&limit=1');
  const { id } = requireValue(data[0], 'conversation on Telegram');
  const second = `${workspace.slug}-2`;
  await cli('workspace', 'create', '--name', 'Second', '--slug', second, '--plan', 'PRO');
  console.log(`
${bold('It stays up until Ctrl-C. Webhooks and outbound messages appear here when they arrive.')}

  Dashboard      ${login.url}
  Login          ${login.email}, password ${login.password}
  Colleague      ${colleague.email}, password ${colleague.password}
  Shop           ${shop.origin}  its chat is the widget; a bot answers until an agent takes over
  Base URL       ${url}
  Documentation  ${docsUrl}
  Key            ${key}

Paste these in another terminal:

curl -sw '\\n' ${url}/me -H 'Authorization: Bearer ${key}'
curl -sw '\\n' '${url}/conversations?channel=TELEGRAM' -H 'x-api-key: ${key}'
curl -sw '\\n' ${url}/conversations/${id}/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '{"body": "Hello from curl"}'

A customer's message, as Telegram sends it. Sent twice, it is stored once; without the secret it is refused:

${telegram.curl()}

Connect another bot to a second workspace, through the simulator:

node dist/cli.js channel connect --workspace ${second} --channel TELEGRAM --credentials '${JSON.stringify(telegram.anotherAccount())}'

${bold('Press Enter to take the receiver of the webhooks away, and again to bring it back:')} the service tells the owner, and
delivers what was missed by itself.
`);
}

/**
 * Returns the port that a variable names or the usual one, or another one if that is taken.
 *
 * @param {string} variable
 * @param {number} usual
 */
async function choosePort(variable, usual) {
  const wanted = Number(process.env[variable] || usual);
  return (await isPortFree(wanted, HOST)) ? wanted : freePort();
}

/** Fails an interrupted `--once` run, which has proved nothing. */
function interrupted() {
  if (once) process.exitCode = 130;
}

mkdirSync(folder, { recursive: true });
await runLauncher(run, { stop: () => running?.stop(), onInterrupt: interrupted });
