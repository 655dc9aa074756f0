// `npm start`: PostgreSQL, Redis, migrations, then the service and its dashboard, until Ctrl-C.
import { runLauncher } from './processes.mjs';
import { START_PORTS, requireFreePorts, startApp, startDashboard, startMigratedServers } from './app.mjs';

const { PORT: port, DASHBOARD_PORT: dashboardPort } = START_PORTS;

/** @type {import('./servers.mjs').Servers | undefined} */
let servers;

async function run() {
  await requireFreePorts();
  const started = await startMigratedServers(console.log);
  servers = started.servers;
  const env = { ...started.env, APP_URL: started.env.APP_URL || `http://localhost:${dashboardPort}` };
  console.log('Starting the service and its dashboard');
  const publicUrl = `http://localhost:${port}`;
  const [app, dashboard] = await Promise.all([
    startApp({ servers, env, port, log: 'inherit' }),
    startDashboard({ servers, env, port: dashboardPort, publicUrl, log: 'inherit' }),
  ]);
  welcome(app.url, env.APP_URL);
  await Promise.race([app.failed, dashboard.failed, servers.failed]);
}

/**
 * Prints what a first user does next.
 *
 * @param {string} url of the service
 * @param {string} appUrl of the dashboard
 */
function welcome(url, appUrl) {
  console.log(`
The service is up.

  Dashboard      ${appUrl}
  API            ${url}/api/v1
  Documentation  ${url}/docs

To make a workspace with its first owner, in another terminal:

  node dist/cli.js workspace create --name Acme --slug acme --plan PRO
  node dist/cli.js agent create --workspace acme --name Ada --email ada@example.com --role OWNER
  node dist/cli.js agent invite --workspace acme --agent <the agent's id>

The last command prints a link: open it, set a password, and make the rest in the dashboard. Or go on with the CLI:

  node dist/cli.js api-key create --workspace acme --name first --scopes conversations:read,messages:write

To chat with it in a page of yours: its "snippet" is the script tag for the page.

  node dist/cli.js channel connect --workspace acme --channel WIDGET --credentials '{"allowedOrigins": ["http://localhost:8080"]}'

Ctrl-C ends it. The data stays for the next start.
`);
}

await runLauncher(run, { stop: () => servers?.stop() });
