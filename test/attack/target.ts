import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { CreatedApiKey } from '../../src/auth/api-key.dto';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { ContractValidator } from '../support/contract-validator';
import { MessagingHost } from '../support/messaging-host';
import { newAccountId } from '../support/messaging-channel';
import { ProcessUsage } from '../support/process-usage';
import { ServiceProcess } from '../support/service-process';
import { MessengerSimulator } from '../support/simulators/messenger';
import { createStores, dropStores } from '../support/test-database';
import { ORIGIN } from '../support/widget';
import { Answers } from './answers';
import { AttackSizes } from './sizes';
import { Witness } from './witness';

const NO_RATE_LIMIT = 1_000_000;
/** Bytes that the files of a workspace may have, few enough that an attack uses them up. */
export const FILE_QUOTA_BYTES = 200 * 1024 * 1024;
const APP_SECRET = 'app-secret-of-the-attacker';

/** Node's option for the heap that V8 takes by itself in a container of 512 MB. */
export const SMALL_HEAP = '--max-old-space-size=256';

/** Process under attack, and who watches it. */
export interface Target<Means> {
  /** Name of the process in `usage`. */
  readonly name: string;
  readonly url: string;
  readonly logFolder: string;
  readonly usage: ProcessUsage;
  readonly deaths: string[];
  readonly witness: Witness;
  readonly answers: Answers;
  readonly foothold: Means;
  readonly host: MessagingHost;
  stop(): Promise<void>;
}

/** Means of the attacker: a paying workspace with the usual limits, and a customer of its own. */
export interface Foothold {
  workspaceId: string;
  /** API keys of the workspace, which share its limits. */
  keys: CreatedApiKey[];
  conversationId: string;
  /** Second workspace of the attacker, with a raised rate and many contacts. */
  raised: { key: string; conversationId: string };
  /** Path of the widget's routes. `hookPath` is that of the Messenger page's hook. */
  widgetPath: string;
  hookPath: string;
  pageId: string;
  appSecret: string;
}

/** One API process and one worker. The witness has one workspace, and the attacker another. */
export class AttackTarget implements Target<Foothold> {
  readonly name = 'api';
  readonly usage: ProcessUsage;
  /** Descriptions of the processes that ended by themselves. */
  readonly deaths: string[] = [];
  private isStopping = false;

  private constructor(
    readonly logFolder: string,
    readonly api: ServiceProcess,
    readonly worker: ServiceProcess,
    readonly witness: Witness,
    readonly foothold: Foothold,
    readonly answers: Answers,
    readonly host: MessagingHost,
    private readonly provider: MessengerSimulator,
  ) {
    const processes = Object.entries({ api, worker });
    this.usage = new ProcessUsage(processes.map(([name, { pid }]) => ({ name, pid })));
    for (const [name, process] of processes)
      void process.exited.then(({ code, signal }) => {
        if (!this.isStopping) this.deaths.push(`${name} ended with ${signal ?? code}`);
      });
  }

  static async start({ env, contacts }: AttackSizes): Promise<AttackTarget> {
    const stores = await createStores();
    const provider = await new MessengerSimulator().start();
    const providerUrls = { META_GRAPH_URL: provider.url };
    const host = await MessagingHost.create({ beside: { stores }, providerUrls });
    const witness = await Witness.start();
    const foothold = await makeFoothold(host, contacts);
    const all = {
      NODE_OPTIONS: SMALL_HEAP,
      DATABASE_POOL_SIZE: '20',
      TRUST_PROXY: 'loopback',
      WORKSPACE_FILE_MEBIBYTES: String(FILE_QUOTA_BYTES / 1024 / 1024),
      // Nothing listens there: no agent answers, so no mail is sent.
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'login@example.com',
      ...providerUrls,
      ...env,
    };
    const logFolder = mkdtempSync(join(tmpdir(), 'messaging-attack-logs-'));
    const [api, worker] = await Promise.all([
      ServiceProcess.start('api', stores, all, { logFile: join(logFolder, 'api.log') }),
      ServiceProcess.start('worker', stores, all, { logFile: join(logFolder, 'worker.log') }),
    ]);
    await beginWitness(witness, host, api);
    const answers = new Answers(await ContractValidator.create(api.url));
    return new AttackTarget(logFolder, api, worker, witness, foothold, answers, host, provider);
  }

  get url(): string {
    return this.api.url;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.usage.stop();
    this.witness.stop();
    for (const process of [this.api, this.worker]) process.kill('SIGKILL');
    await Promise.all([this.api.exited, this.worker.exited]);
    await this.provider.stop();
    await this.host.close();
    await dropStores(this.host.stores);
  }
}

async function makeFoothold(host: MessagingHost, contacts: number): Promise<Foothold> {
  const { make } = host;
  const workspace = await make.workspace();
  await make.agent(workspace);
  const keys = [await make.apiKey(workspace), await make.apiKey(workspace), await make.apiKey(workspace)];
  const conversation = await make.conversation(workspace);
  const raised = await makeRaised(host, contacts);
  const connections = host.get(ChannelConnectionsService);
  const connect = (channel: 'WIDGET' | 'MESSENGER', credentials: object) =>
    connections.connect(workspace.id, { channel, credentials }, SYSTEM);
  const widget = await connect('WIDGET', { allowedOrigins: [ORIGIN] });
  const pageId = newAccountId();
  const page = await connect('MESSENGER', { pageId, accessToken: `token-${pageId}`, appSecret: APP_SECRET });
  return {
    workspaceId: workspace.id,
    keys,
    conversationId: conversation.id,
    raised,
    widgetPath: pathOf(widget),
    hookPath: pathOf(page),
    pageId,
    appSecret: APP_SECRET,
  };
}

async function makeRaised(host: MessagingHost, contacts: number): Promise<Foothold['raised']> {
  const { make } = host;
  const workspace = await make.workspace({ rateLimit: NO_RATE_LIMIT });
  await make.agent(workspace);
  const { key } = await make.apiKey(workspace);
  const { id: conversationId } = await make.conversation(workspace);
  await fillWithContacts(host, workspace, contacts);
  return { key, conversationId };
}

/** Fills a workspace with contacts, without the service's limit on a statement's time. */
async function fillWithContacts(
  { stores }: MessagingHost,
  { id }: { id: string },
  count: number,
): Promise<void> {
  const client = new Client({ connectionString: stores.databaseUrl });
  await client.connect();
  await client.query('SET statement_timeout = 0');
  await client.query(
    `INSERT INTO contacts (tenant_id, id, name, email, search_text, created_at, updated_at)
     SELECT $1, gen_random_uuid(), 'Customer ' || n, 'customer-' || n || '@example.com',
       'customer ' || n || E'\\ncustomer-' || n || E'@example.com\\n\\n', now(), now()
     FROM generate_series(1, $2::integer) AS n`,
    [id, count],
  );
  await client.end();
}

function pathOf({ hookUrl }: ConnectedChannel): string {
  return new URL(hookUrl).pathname;
}

async function beginWitness(witness: Witness, host: MessagingHost, api: ServiceProcess): Promise<void> {
  const { make } = host;
  const workspace = await make.workspace({ rateLimit: NO_RATE_LIMIT });
  await make.agent(workspace);
  const { key } = await make.apiKey(workspace);
  const { id: conversationId } = await make.conversation(workspace);
  const input = { url: witness.endpoint, events: ['message.created'] };
  await host.get(WebhookEndpointsService).create(workspace.id, input, SYSTEM);
  await witness.begin({ url: api.url, key, conversationId });
}
