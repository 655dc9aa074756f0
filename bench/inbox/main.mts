// Measures the inbox in Chromium in a workspace of 100,000 conversations and 10,000,000 messages:
// `npm run bench:inbox`. The data stays in the folder DATA_DIR, in which the next run finds it.
import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import pg from 'pg';
import { runCli, startApp, startDashboard, startMigratedServers } from '../../scripts/app.mjs';
import { freePort, LauncherError, runLauncher, sleep } from '../../scripts/processes.mjs';
import type { Servers } from '../../scripts/servers.mjs';
import { DATA_DIR } from '../../scripts/servers/home.mjs';
import { requireLinux } from '../support/usage.mts';
import { AgentPage } from './agent-page.mts';
import { Customers } from './customers.mts';
import { Figures } from './figures.mts';
import { openStreams } from './streams.mts';
import { beginSessions, filledWorkspace, findLongConversation, SLUG } from './workspace.mts';

const { values: options } = parseArgs({
  options: {
    conversations: { type: 'string', default: '100000' },
    streams: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    only: { type: 'string', multiple: true, default: ['opening', 'acts', 'lists', 'stream'] },
  },
});
const MESSAGES_A_SECOND = 20;
const WRITERS = 100;
/**
 * Numbers of the rows of a list, and of the messages of a conversation, that are loaded before both are
 * measured.
 */
const [ROWS, MESSAGES] = [2_000, 5_000];
/** Frames in which the page is scrolled through the loaded items. */
const FRAMES = 120;
/** Pause between two replies of a colleague. */
const PAUSE_MS = 2_000;

/** Sends a reply in a conversation. Returns when it was answered, in milliseconds since 1970. */
type Reply = (conversationId: string, body: string) => Promise<number>;

const log = (line: string) => process.stderr.write(`${line}\n`);
const wants = (part: string) => options.only.includes(part);
let servers: Servers | undefined;

async function run() {
  requireLinux();
  const started = await startMigratedServers(log);
  servers = started.servers;
  const pool = new pg.Pool({ connectionString: servers.databaseAdminUrl, max: 4 });
  pool.on('error', () => undefined); // its server ends first
  const { id, agentIds } = await filledWorkspace(pool, Number(options.conversations), log);
  const dashboardPort = await freePort();
  const env = {
    ...started.env,
    ROLE: 'all',
    LOG_LEVEL: 'warn',
    TRUST_PROXY: 'loopback',
    WIDGET_NEW_VISITORS: '100000',
    WIDGET_MESSAGES: '100000',
    WIDGET_CONCURRENCY: '20',
    DATABASE_POOL_SIZE: '20',
    APP_URL: `http://localhost:${dashboardPort}`,
  };
  const port = await freePort();
  const context = { servers, env, log: openSync(join(DATA_DIR, 'bench.log'), 'w') };
  const [service, dashboard] = await Promise.all([
    startApp({ ...context, port }),
    startDashboard({ ...context, port: dashboardPort, publicUrl: `http://localhost:${port}` }),
  ]);
  const [own, ...others] = await beginSessions(pool, agentIds, 1 + Number(options.streams));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' });
  const figures = new Figures();
  try {
    const page = await AgentPage.open(browser, dashboard.url, SLUG, own!);
    if (wants('opening')) await measureOpening(page, figures);
    if (wants('acts')) await measureActs(page, figures);
    if (wants('lists')) {
      const reply = replyAs(others[0]!, dashboard.url, id);
      await measureLists(page, figures, await findLongConversation(pool, id), reply);
    }
    if (wants('stream')) {
      const customers = await Customers.begin(service.url, await connectWidget(env), WRITERS);
      const streams = await openStreams(dashboard, id, others, figures);
      await measureMessages(page, customers, figures);
      streams.end();
    }
    console.log(`\n${figures.table()}\n`);
    if (page.errors.length > 0) throw new LauncherError(`The page had errors: ${page.errors.join('; ')}`);
  } finally {
    await browser.close();
    await pool.end();
  }
}

async function measureOpening(page: AgentPage, figures: Figures): Promise<void> {
  log('Opening conversations');
  await page.list('view=all');
  figures.add('a conversation opens, never read before', 300, await page.openRows(45));
  figures.add('a conversation opens again', 100, await page.openRows(45));
  figures.add('another view is shown', 300, await page.switchViews(10));
  figures.add('the inbox, the dashboard loaded anew', null, await page.load(10));
}

async function measureActs(page: AgentPage, figures: Figures): Promise<void> {
  log('Acting');
  await page.list('view=nobody');
  figures.add('a conversation is assigned', 50, await page.assign(40));
  await page.list('view=nobody');
  figures.add('a conversation is closed', 50, await page.closeByKey(40));
  await page.list('view=nobody');
  figures.add('a conversation is snoozed', 50, await page.snooze(40));
  await page.list('view=nobody');
  figures.add('a reply is shown', 50, await page.reply(40));
}

/** Measures the list with many rows, and a conversation with many messages. */
async function measureLists(page: AgentPage, figures: Figures, longId: string, reply: Reply): Promise<void> {
  log(`${ROWS} rows`);
  await page.list('view=nobody');
  await page.loadRows(ROWS);
  const withRows = `with ${ROWS} rows:`;
  figures.add(`${withRows} a frame while one scrolls`, null, await page.scroll('row', FRAMES));
  figures.add(`${withRows} J moves to the next row`, 50, await page.moveByKey(10));
  figures.add(`${withRows} a conversation opens, never read before`, 300, await page.openRows(10));
  figures.add(`${withRows} a conversation opens again`, 100, await page.openRows(10));
  figures.add(`${withRows} a conversation is closed`, 50, await page.closeByKey(10));
  log(`${MESSAGES} messages`);
  await page.openAlone(longId);
  await page.loadMessages(MESSAGES);
  const withMessages = `with ${MESSAGES} messages:`;
  figures.add(`${withMessages} a frame while one scrolls`, null, await page.scroll('message', FRAMES));
  const times: number[] = [];
  for (let n = 0; n < 10; n++) {
    const text = `Colleague's answer ${n}, ${Date.now()}.`;
    const stored = await reply(longId, text);
    times.push((await page.untilShown(text)) - stored);
    await sleep(PAUSE_MS);
  }
  figures.add(`${withMessages} a colleague's answer is on the screen, from its answer on`, 300, times);
}

/** Returns a function that sends a reply of another agent, and returns when it was answered. */
function replyAs(cookie: string, url: string, workspaceId: string): Reply {
  return async (conversationId, body) => {
    const answer = await fetch(
      `${url}/api/workspaces/${workspaceId}/conversations/${conversationId}/messages`,
      {
        method: 'POST',
        headers: {
          cookie,
          origin: url,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({ body }),
      },
    );
    if (!answer.ok) throw new LauncherError(`A reply was answered ${answer.status}: ${await answer.text()}`);
    return performance.timeOrigin + performance.now();
  };
}

async function measureMessages(page: AgentPage, customers: Customers, figures: Figures): Promise<void> {
  const seconds = Number(options.seconds);
  log(`${MESSAGES_A_SECOND} messages a second for ${seconds} s`);
  await page.list('view=all');
  await page.watchMessages();
  const sent = await customers.write(MESSAGES_A_SECOND, seconds);
  const seen = await page.seenMessages(sent);
  const since = (from: 'asked' | 'stored') => seen.map((one) => one.seen - one[from]);
  figures.add(`a customer's message is on the screen, from its answer on`, 300, since('stored'));
  figures.add(`a customer's message is on the screen, from its request on`, null, since('asked'));
  figures.note(`of ${sent.length} messages ${seen.length} were seen`);
}

/** Connects a widget, and returns its public address. */
async function connectWidget(env: NodeJS.ProcessEnv): Promise<string> {
  const credentials = JSON.stringify({ allowedOrigins: [Customers.ORIGIN] });
  const args = [
    'channel',
    'connect',
    '--workspace',
    SLUG,
    '--channel',
    'WIDGET',
    '--credentials',
    credentials,
  ];
  const { hookUrl } = await runCli<{ hookUrl: string }>(args, env).catch(async () => {
    const connections = await runCli<{ channel: string; hookUrl: string }[]>(
      ['channel', 'list', '--workspace', SLUG],
      env,
    );
    return connections.find(({ channel }) => channel === 'WIDGET')!;
  });
  return new URL(hookUrl).pathname;
}

await runLauncher(run, { stop: () => servers?.stop() });
