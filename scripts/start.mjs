// `npm start`: PostgreSQL, Redis, migrations, then the service, until Ctrl-C.
import { isPortFree, LauncherError, printFault, untilStopped } from './processes.mjs';
import { startApp, startMigratedServers } from './app.mjs';

const port = Number(process.env.PORT || 3000);

/** @type {import('./servers.mjs').Servers | undefined} */
let servers;

async function run() {
  if (!(await isPortFree(port, process.env.HOST || '0.0.0.0'))) {
    throw new LauncherError(`Port ${port} is taken. Choose another one, for example: PORT=3001 npm start`);
  }
  const started = await startMigratedServers(console.log);
  servers = started.servers;
  const app = await startApp({ servers, env: started.env, port, log: 'inherit' });
  welcome(app.url);
  await Promise.race([app.failed, servers.failed]);
}

function welcome(url) {
  console.log(`
The service is up.

  API            ${url}/api/v1
  Documentation  ${url}/docs

To make a workspace with an agent and an API key, in another terminal:

  node dist/cli.js workspace create --name Acme --slug acme --plan PRO
  node dist/cli.js agent create --workspace acme --name Ada --email ada@example.com --role OWNER
  node dist/cli.js api-key create --workspace acme --name first --scopes conversations:read,messages:write

To chat with it in a page of yours: its "snippet" is the script tag for the page.

  node dist/cli.js channel connect --workspace acme --channel WIDGET --credentials '{"allowedOrigins": ["http://localhost:8080"]}'

Ctrl-C ends it. The data stays for the next start.
`);
}

try {
  await Promise.race([run(), untilStopped()]);
} catch (error) {
  printFault(error);
  process.exitCode = 1;
}
await servers?.stop();
process.exit();
