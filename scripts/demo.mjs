// `npm run demo`: the whole service on this machine, with a customer, a receiver of webhooks and a show.
import { mkdirSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DATA_DIR, runCli, startApp, startMigratedServers } from './app.mjs';
import { makeCertificates } from './certificates.mjs';
import { bold, green, note, printDelivery, title } from './demo/print.mjs';
import { Receiver } from './demo/receiver.mjs';
import { show } from './demo/show.mjs';
import { makeWorkspace } from './demo/workspace.mjs';
import { freePort, isPortFree, LauncherError, printFault, untilStopped } from './processes.mjs';

const once = process.argv.includes('--once');
const folder = join(DATA_DIR, 'demo');

/** @type {import('./servers.mjs').Servers | undefined} */
let servers;

async function run() {
  title('Starting PostgreSQL, Redis, the service and a receiver of webhooks');
  const started = await startMigratedServers(note);
  servers = started.servers;
  const certificate = await makeCertificates(folder, ['127.0.0.1']);
  const env = {
    ...started.env,
    ROLE: 'all',
    // What lets webhooks reach this machine: receivers are public addresses otherwise.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32',
    WEBHOOK_EXTRA_CA_FILE: certificate.caFile,
  };
  const receiver = new Receiver(certificate);
  const receiverUrl = await receiver.listen();
  const logFile = join(folder, 'service.log');
  const app = await startApp({
    reaper: servers.reaper,
    env,
    port: await choosePort(),
    log: openSync(logFile, 'w'),
  });
  note(`API ${app.url}/api/v1, receiver ${receiverUrl}, log ${relative('', logFile)}`);
  await Promise.race([perform({ app, env, receiver, receiverUrl }), app.failed, servers.failed]);
}

async function perform({ app, env, receiver, receiverUrl }) {
  const cli = (/** @type {string[]} */ ...args) => runCli(args, env);
  title(
    'Making a workspace with the CLI: agents, contacts, a conversation on each channel, a key, an endpoint',
  );
  const made = await makeWorkspace(cli, receiverUrl);
  receiver.useSecret(made.endpoint.secret);
  note(`workspace ${made.workspace.slug}, key ${made.key.key}`);

  const apiUrl = `${app.url}/api/v1`;
  const key = made.key.key;
  await show({ ...made, apiUrl, key, receiver, cli });
  summary(receiver);
  if (once) return;
  invite({ apiUrl, key, conversation: made.conversations[1], docsUrl: `${app.url}/docs` });
  receiver.on('delivery', (delivery) => {
    console.log();
    printDelivery(delivery);
  });
  await new Promise(() => undefined); // until Ctrl-C
}

/** The show has looked at the webhooks it waited for; all others have to be genuine too. */
function summary({ deliveries }) {
  const counts = new Map();
  for (const { body } of deliveries) counts.set(body.event, (counts.get(body.event) ?? 0) + 1);
  const forged = deliveries.filter(({ verified, verifiedByLibrary }) => !verified || !verifiedByLibrary);
  if (forged.length > 0)
    throw new LauncherError(`${forged.length} webhooks came with a signature that does not match.`);
  title('Everything arrived and every signature is right');
  for (const [event, count] of counts) console.log(`  ${green('✓')} ${count} × ${event}`);
}

function invite({ apiUrl, key, conversation, docsUrl }) {
  console.log(`
${bold('It stays up until Ctrl-C. Webhooks appear here as they come.')}

  Base URL       ${apiUrl}
  Documentation  ${docsUrl}
  Key            ${key}

Paste these in another terminal:

curl -sw '\\n' ${apiUrl}/me -H 'Authorization: Bearer ${key}'
curl -sw '\\n' '${apiUrl}/conversations?channel=TELEGRAM' -H 'x-api-key: ${key}'
curl -sw '\\n' ${apiUrl}/conversations/${conversation.id}/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '{"body": "Hello from curl"}'
`);
}

async function choosePort() {
  const wanted = Number(process.env.PORT || 3000);
  return (await isPortFree(wanted, '0.0.0.0')) ? wanted : freePort();
}

/** A show that was cut short has shown nothing. */
function interrupted() {
  if (once) process.exitCode = 130;
}

mkdirSync(folder, { recursive: true });
try {
  await Promise.race([run(), untilStopped().then(interrupted)]);
} catch (error) {
  printFault(error);
  process.exitCode = 1;
}
await servers?.stop();
process.exit();
