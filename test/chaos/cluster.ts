import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/processes.mjs';
import { DnsStub } from '../support/dns-stub';
import { ProcessUsage } from '../support/process-usage';
import { setting } from '../support/test-database';
import { Client } from './client';
import { Conversation, ChaosHost } from './chaos-host';
import { Ledger } from './ledger';
import { Load } from './load';
import { Neighbours } from './neighbours';
import { Random } from './random';
import { Reads } from './reads';
import { hostOf, ChaosReceiver, ReceiverName, NAMED_HOST, usualOf } from './receivers';
import { Plan, ChaosSizes } from './scenario';
import { FULL_DISK, ChaosProcess } from './service-process';
import { Stores } from './stores';

const CLI = join(__dirname, '../../dist/cli.js');
const SECRETS_KEYS = `chaos:${Buffer.alloc(32, 7).toString('base64')}`;
const ALLOWED_NETWORK = '127.0.0.0/8';
const APIS = ['api-1', 'api-2'];
const WORKERS = Array.from({ length: Number(process.env.WORKERS ?? 2) }, (_, index) => `worker-${index + 1}`);
const WORKSPACES = 2;
const CONVERSATIONS = 3;

/** Real stores, processes, receivers, a name server, and clients, all for this run only. */
export class ChaosCluster {
  readonly ledger = new Ledger();
  readonly logFolder = mkdtempSync(join(tmpdir(), 'messaging-chaos-logs-'));
  readonly apis: ChaosProcess[] = [];
  readonly workers: ChaosProcess[] = [];
  readonly receivers = new Map<ReceiverName, ChaosReceiver>();
  /** Faults in what the service says or does, apart from lost messages. */
  readonly complaints: string[] = [];
  /** Measurements of the faults, for the report. */
  readonly notes: string[] = [];
  /** The workspaces of `load` and `reads`. */
  readonly workspaceIds = new Set<string>();
  readonly client = new Client(this.apis);
  host!: ChaosHost;
  neighbours!: Neighbours;
  load!: Load;
  reads!: Reads;
  usage!: ProcessUsage;

  private readonly tlsFiles = {
    cert: readFileSync(setting('TEST_CERT_FILE'), 'utf8'),
    key: readFileSync(setting('TEST_KEY_FILE'), 'utf8'),
  };

  private constructor(
    readonly stores: Stores,
    readonly names: DnsStub,
    readonly sizes: ChaosSizes,
    private readonly random: Random,
  ) {}

  static async start(plan: Plan, random: Random): Promise<ChaosCluster> {
    const [stores, names] = await Promise.all([Stores.start(plan), DnsStub.start()]);
    const cluster = new ChaosCluster(stores, names, plan.sizes, random);
    try {
      cluster.answerNames();
      await cluster.startReceivers(plan.receivers);
      await promisify(execFile)(process.execPath, [CLI, 'migrate'], {
        env: { ...cluster.env, ...cluster.ownerEnv },
      });
      await cluster.openDashboard();
      const conversations = await cluster.makeConversations();
      await cluster.startProcesses(plan.mute);
      cluster.startClients(conversations);
    } catch (error) {
      await stores.stop();
      throw error;
    }
    return cluster;
  }

  get processes(): ChaosProcess[] {
    return [...this.apis, ...this.workers];
  }

  receiver(name: ReceiverName): ChaosReceiver {
    return this.receivers.get(name)!;
  }

  /** Makes the name server resolve the receiver's host. */
  answerNames(): void {
    this.names.set(NAMED_HOST, { A: ['127.0.0.1'] });
  }

  /** Settles when every request that was begun is answered. */
  async stopClients(): Promise<void> {
    await this.load.stop();
    await this.reads.stop();
  }

  async stop(): Promise<void> {
    this.client.giveUp();
    await this.stopClients();
    this.usage.stop();
    await Promise.all(this.processes.map((process) => process.stop()));
    await Promise.all([...this.receivers.values()].map((receiver) => receiver.stop()));
    await this.neighbours.stop();
    await this.host.close();
    await this.names.stop();
    await this.stores.stop();
  }

  private get ownerEnv(): NodeJS.ProcessEnv {
    return { DATABASE_OWNER_URL: this.stores.databaseOwnerUrl };
  }

  private get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      DATABASE_URL: this.stores.databaseUrl,
      DATABASE_POOL_SIZE: '10',
      REDIS_URL: this.stores.redisUrl,
      SECRETS_KEYS,
      WEBHOOK_ALLOWED_NETWORKS: ALLOWED_NETWORK,
      WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
      WEBHOOK_DNS_SERVERS: this.names.server,
    };
  }

  private async startReceivers(names: readonly ReceiverName[]): Promise<void> {
    const { tlsFiles: files, ledger: book } = this;
    for (const name of names) {
      const options = { files, book, usual: usualOf(name), host: hostOf(name) };
      this.receivers.set(name, await ChaosReceiver.start({ ...options, random: this.random.stream(name) }));
    }
  }

  private async openDashboard(): Promise<void> {
    this.host = await ChaosHost.open({
      databaseUrl: this.stores.databaseUrl,
      databasePoolSize: 5,
      redisUrl: this.stores.redisUrl,
      secretsKeys: SECRETS_KEYS,
      webhookAllowedNetworks: [ALLOWED_NETWORK],
      webhookDnsServers: [this.names.server],
    });
    const random = this.random.stream('neighbours');
    this.neighbours = new Neighbours(this.host, this.client, this.tlsFiles, random);
  }

  /** Makes workspaces with every receiver as an endpoint. */
  private async makeConversations(): Promise<Conversation[]> {
    const conversations: Conversation[] = [];
    while (this.workspaceIds.size < WORKSPACES) {
      const made = await this.host.makeConversations(CONVERSATIONS);
      const { workspaceId } = made[0]!;
      for (const [name, receiver] of this.receivers)
        await this.host.createEndpoint(workspaceId, { url: receiver.urlOf(name) });
      this.workspaceIds.add(workspaceId);
      conversations.push(...made);
    }
    return conversations;
  }

  private async startProcesses(mute: readonly string[]): Promise<void> {
    this.apis.push(...(await Promise.all(APIS.map((name) => this.makeProcess(name, 'api')))));
    this.workers.push(...(await Promise.all(WORKERS.map((name) => this.makeProcess(name, 'worker')))));
    await Promise.all(
      this.processes.map((process) =>
        process.start(mute.includes(process.name) ? FULL_DISK : process.logFile),
      ),
    );
  }

  private async makeProcess(name: string, role: 'api' | 'worker'): Promise<ChaosProcess> {
    const logFile = join(this.logFolder, `${name}.log`);
    const env = { ...this.env, ...(role === 'worker' && this.ownerEnv) };
    const options = { name, role, port: await freePort(), env, logFile };
    return new ChaosProcess(options, this.stores.reaper);
  }

  private startClients(conversations: readonly Conversation[]): void {
    this.usage = new ProcessUsage(this.processes);
    this.load = new Load(this.client, conversations, this.ledger, this.random.stream('load'));
    this.reads = new Reads(this.apis, conversations, this.stores, this.random.stream('reads'));
    this.load.start();
    this.reads.start();
  }
}
