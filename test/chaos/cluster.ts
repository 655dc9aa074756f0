import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/processes.mjs';
import { DnsStub } from '../support/dns-stub';
import { setting } from '../support/test-database';
import { Conversation, makeConversations } from './fixture';
import { Ledger } from './ledger';
import { Load } from './load';
import { Memory } from './memory';
import { Random } from './random';
import { Reads } from './reads';
import { NAMED_HOST, Receiver, ReceiverName } from './receivers';
import { Plan } from './scenario';
import { FULL_DISK, ServiceProcess } from './service-process';
import { Stores } from './stores';

const CLI = join(__dirname, '../../dist/cli.js');
const SECRETS_KEYS = `chaos:${Buffer.alloc(32, 7).toString('base64')}`;
const ALLOWED_NETWORK = '127.0.0.0/8';
const APIS = ['api-1', 'api-2'];
const WORKERS = ['worker-1', 'worker-2'];

/** Real stores, processes, receivers, a name server, and clients, all for this run only. */
export class Cluster {
  readonly ledger = new Ledger();
  readonly logFolder = mkdtempSync(join(tmpdir(), 'messaging-chaos-logs-'));
  readonly apis: ServiceProcess[] = [];
  readonly workers: ServiceProcess[] = [];
  readonly receivers = new Map<ReceiverName, Receiver>();
  load!: Load;
  reads!: Reads;
  memory!: Memory;

  private constructor(
    readonly stores: Stores,
    readonly names: DnsStub,
    private readonly random: Random,
  ) {}

  static async start({ receivers, mute }: Plan, random: Random): Promise<Cluster> {
    const [stores, names] = await Promise.all([Stores.start(), DnsStub.start()]);
    const cluster = new Cluster(stores, names, random);
    try {
      cluster.answerNames();
      await cluster.startReceivers(receivers);
      await promisify(execFile)(process.execPath, [CLI, 'migrate'], { env: cluster.env });
      const conversations = await cluster.makeConversations();
      await cluster.startProcesses(mute);
      cluster.startClients(conversations);
    } catch (error) {
      await stores.stop();
      throw error;
    }
    return cluster;
  }

  get processes(): ServiceProcess[] {
    return [...this.apis, ...this.workers];
  }

  receiver(name: ReceiverName): Receiver {
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
    this.memory.stop();
    await Promise.all(this.processes.map((process) => process.stop()));
    await Promise.all([...this.receivers.values()].map((receiver) => receiver.stop()));
    await this.names.stop();
    await this.stores.stop();
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
    const cert = readFileSync(setting('TEST_CERT_FILE'), 'utf8');
    const key = readFileSync(setting('TEST_KEY_FILE'), 'utf8');
    for (const name of names)
      this.receivers.set(
        name,
        await Receiver.start(name, { cert, key }, this.ledger, this.random.stream(name)),
      );
  }

  private makeConversations(): Promise<Conversation[]> {
    const options = {
      databaseUrl: this.stores.databaseUrl,
      redisUrl: this.stores.redisUrl,
      secretsKeys: SECRETS_KEYS,
      webhookAllowedNetworks: [ALLOWED_NETWORK],
      webhookDnsServers: [this.names.server],
    };
    return makeConversations(options, [...this.receivers.values()]);
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

  private async makeProcess(name: string, role: 'api' | 'worker'): Promise<ServiceProcess> {
    const logFile = join(this.logFolder, `${name}.log`);
    const options = { name, role, port: await freePort(), env: this.env, logFile };
    return new ServiceProcess(options, this.stores.reaper);
  }

  private startClients(conversations: readonly Conversation[]): void {
    this.memory = new Memory(this.processes);
    this.load = new Load(this.apis, conversations, this.ledger, this.random.stream('load'));
    this.reads = new Reads(this.apis, conversations, this.stores, this.random.stream('reads'));
    this.load.start();
    this.reads.start();
  }
}
