import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/processes.mjs';
import { ChaosHost } from '../chaos/chaos-host';
import { Client } from '../chaos/client';
import { Random } from '../chaos/random';
import { ChaosProcess } from '../chaos/service-process';
import { Stores } from '../chaos/stores';
import { holdSnapshot } from '../support/held-snapshot';
import { ProcessUsage } from '../support/process-usage';
import { setting } from '../support/test-database';
import { Group } from './group';
import { SteadyLoad } from './load';

const CLI = join(__dirname, '../../dist/cli.js');
const SECRETS_KEYS = `soak:${Buffer.alloc(32, 7).toString('base64')}`;
const ALLOWED_NETWORK = '127.0.0.0/8';
/** Sizes of the groups of endpoints. Two tenths hang in turns, so that one tenth hangs at any time. */
const SIZES = { answering: 80, even: 10, odd: 10 };

/**
 * Kinds of processes, two of each: the first runs throughout, so that its memory can be measured, and the
 * second is restarted again and again.
 */
export const KINDS = ['api', 'worker'] as const;
export type Kind = (typeof KINDS)[number];

/** Real stores, processes, receivers and a steady load, all for this run only. */
export class SoakCluster {
  readonly logFolder = mkdtempSync(join(tmpdir(), 'messaging-soak-logs-'));
  readonly processes: ChaosProcess[] = [];
  readonly client: Client;
  groups!: Record<keyof typeof SIZES, Group>;
  load!: SteadyLoad;
  usage!: ProcessUsage;
  private readonly apis: ChaosProcess[] = [];
  private host!: ChaosHost;

  private constructor(readonly stores: Stores) {
    this.client = new Client(this.apis);
  }

  static async start(perSecond: number, random: Random): Promise<SoakCluster> {
    const cluster = new SoakCluster(await Stores.start({ withSmallDisk: false }));
    try {
      await promisify(execFile)(process.execPath, [CLI, 'migrate'], { env: cluster.env });
      await cluster.openGroups(random);
      await cluster.startProcesses();
    } catch (error) {
      await cluster.stores.stop();
      throw error;
    }
    cluster.usage = new ProcessUsage(cluster.processes);
    const shares = Object.entries(SIZES).flatMap(([name, size]) =>
      Array.from({ length: size }, () => cluster.groups[name as keyof typeof SIZES]),
    );
    cluster.load = new SteadyLoad(cluster.client, shares, perSecond, random.stream('load'));
    return cluster;
  }

  /** Returns the resident memory of the process of a kind that is never restarted, in MiB. */
  memory(kind: Kind): number {
    return this.usage.memory.latest.get(`${kind}-1`) ?? NaN;
  }

  /** Restarts the second process of each kind, one after the other. */
  async restart(): Promise<void> {
    for (const process of this.processes.filter(({ name }) => name.endsWith('-2')))
      await process.restartWith(process.logFile);
  }

  /**
   * Opens an idle snapshot, which keeps vacuum from removing any row that is deleted from now on.
   * @returns a function that ends it, and throws if it ended earlier
   */
  async openSnapshot(): Promise<() => Promise<void>> {
    const client = await holdSnapshot(this.stores.databaseOwnerUrl);
    return async () => {
      await client.query('COMMIT');
      await client.end();
    };
  }

  async stop(): Promise<void> {
    this.client.giveUp();
    await this.load.stop();
    this.usage.stop();
    await Promise.all(this.processes.map((process) => process.stop()));
    await Promise.all(Object.values(this.groups).map(({ receiver }) => receiver.stop()));
    await this.host.close();
    await this.stores.stop();
  }

  private get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      DATABASE_URL: this.stores.databaseUrl,
      DATABASE_OWNER_URL: this.stores.databaseOwnerUrl,
      REDIS_URL: this.stores.redisServerUrl,
      SECRETS_KEYS,
      WEBHOOK_ALLOWED_NETWORKS: ALLOWED_NETWORK,
      WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
    };
  }

  private async openGroups(random: Random): Promise<void> {
    this.host = await ChaosHost.open({
      databaseUrl: this.stores.databaseUrl,
      databasePoolSize: 5,
      redisUrl: this.stores.redisServerUrl,
      secretsKeys: SECRETS_KEYS,
      webhookAllowedNetworks: [ALLOWED_NETWORK],
    });
    const files = {
      cert: readFileSync(setting('TEST_CERT_FILE'), 'utf8'),
      key: readFileSync(setting('TEST_KEY_FILE'), 'utf8'),
    };
    const open = (name: keyof typeof SIZES) =>
      Group.open(name, SIZES[name], { host: this.host, files, random });
    this.groups = { answering: await open('answering'), even: await open('even'), odd: await open('odd') };
  }

  private async startProcesses(): Promise<void> {
    for (const role of KINDS)
      for (const name of [`${role}-1`, `${role}-2`]) {
        const { DATABASE_OWNER_URL, ...env } = this.env;
        const options = {
          name,
          role,
          port: await freePort(),
          env: { ...env, ...(role === 'worker' && { DATABASE_OWNER_URL }) },
          logFile: join(this.logFolder, `${name}.log`),
        };
        const process = new ChaosProcess(options, this.stores.reaper);
        this.processes.push(process);
        if (role === 'api') this.apis.push(process);
      }
    await Promise.all(this.processes.map((process) => process.start(process.logFile)));
  }
}
