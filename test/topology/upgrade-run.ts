import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answering, failingAtFirst } from '../chaos/behaviours';
import { Ledger } from '../chaos/ledger';
import { Random } from '../chaos/random';
import { ChaosReceiver } from '../chaos/receivers';
import { pending } from '../chaos/tables';
import { TelegramSimulator } from '../support/simulators/telegram';
import {
  createEmptyDatabase,
  dropStores,
  setting,
  TestDatabase,
  TestStores,
  ownRedis,
} from '../support/test-database';
import { waitFor } from '../support/wait';
import { Balancer } from './balancer';
import { Fleet, FleetRole } from './fleet';
import { UpgradeClients } from './upgrade-clients';
import { makeWorkspace } from './upgrade-workspace';
import { Version } from './version';

/** Time for deliveries to finish: retries of webhooks take 62 s of backoff. */
const SETTLE_MS = 120_000;

/** Names of the receivers in the ledger. */
export const RECEIVERS = ['steady', 'failing-at-first'] as const;

export interface UpgradePlan {
  before: Version;
  order: readonly FleetRole[];
  balancing?: Parameters<typeof Balancer.start>[0];
  /** Additional variables of all processes. */
  env?: Record<string, string>;
}

/** Outcome of one step of an upgrade. */
export interface Step {
  name: string;
  ms: number;
  messages: number;
  /** Requests that were sent again, with the reason. */
  retries: string[];
}

/** Functions that end what was started. They run in the reverse order. */
class Endings {
  private readonly endings: (() => Promise<void>)[] = [];

  add(end: () => Promise<void>): void {
    this.endings.unshift(end);
  }

  stopping<T extends { stop(): Promise<void> }>(started: T): T {
    this.add(() => started.stop());
    return started;
  }

  async run(): Promise<void> {
    for (const end of this.endings.splice(0)) await end();
  }
}

/** The service and its surroundings while it is upgraded. */
export class UpgradeRun {
  readonly steps: Step[] = [];
  /** Names of the migrations of the upgrade. */
  migrations: string[] = [];
  /** Milliseconds from the end of the load until all its work was done. */
  settledMs = Infinity;

  private constructor(
    readonly database: TestDatabase,
    readonly fleet: Fleet,
    readonly clients: UpgradeClients,
    readonly telegram: TelegramSimulator,
    readonly balancer: Balancer,
    readonly logFolder: string,
    private readonly stores: TestStores,
    private readonly env: Record<string, string>,
    private readonly endings: Endings,
  ) {}

  /** Starts everything with the version before, and the load. */
  static async start(plan: UpgradePlan): Promise<UpgradeRun> {
    const endings = new Endings();
    try {
      return await UpgradeRun.startAll(plan, endings);
    } catch (error) {
      await endings.run();
      throw error;
    }
  }

  private static async startAll(
    { before, balancing, env: given }: UpgradePlan,
    endings: Endings,
  ): Promise<UpgradeRun> {
    const random = new Random(1);
    const ledger = new Ledger();
    const stores = { ...(await createEmptyDatabase()), redisUrl: await ownRedis() };
    endings.add(() => dropStores(stores));
    const database = new TestDatabase(stores);
    endings.add(() => database.close());
    const telegram = endings.stopping(await new TelegramSimulator().start());
    const balancer = endings.stopping(await Balancer.start(balancing));
    telegram.hookOrigin = balancer.url;
    const endpoints: string[] = [];
    for (const name of RECEIVERS)
      endpoints.push(endings.stopping(await startReceiver(name, ledger, random)).urlOf(name));
    const env = { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://chat.example', ...given };
    const cli = (...args: string[]) => before.cli(stores, env, ...args);
    await cli('migrate');
    const workspace = await makeWorkspace(cli, endpoints);
    const logFolder = mkdtempSync(join(tmpdir(), 'messaging-upgrade-logs-'));
    const fleet = endings.stopping(new Fleet(stores, env, balancer, logFolder));
    await fleet.start(before);
    const clients = endings.stopping(
      await UpgradeClients.start({ url: balancer.url, workspace, telegram, ledger, random }),
    );
    return new UpgradeRun(database, fleet, clients, telegram, balancer, logFolder, stores, env, endings);
  }

  /** Migrates, then replaces all processes of the first role one at a time, then those of the second. */
  async upgradeTo(version: Version, order: readonly FleetRole[]): Promise<void> {
    await this.step('nothing', () => Promise.resolve());
    await this.step('migrate', async () => {
      ({ migrations: this.migrations } = await version.cli(this.stores, this.env, 'migrate'));
    });
    for (const role of order)
      for (const which of ['first', 'second'])
        await this.step(`replace the ${which} ${role}`, () => this.fleet.replaceOne(role, version));
  }

  /** Ends the load. Settles when all work that the load caused is done. */
  async settle(): Promise<void> {
    const begin = Date.now();
    await this.clients.stopLoad();
    await waitFor('every delivery to end', async () => (await pending(this.database)) === 0, SETTLE_MS);
    await waitFor('every reply to be sent', async () => (await this.queued()) === 0, SETTLE_MS);
    // A heartbeat shows the page what it has missed.
    const shown = async () => (await this.idsOf('WIDGET')).every((id) => this.clients.seenOnPage.has(id));
    // The spec shows which messages are missing.
    await waitFor('the page to have every message', shown, SETTLE_MS).catch(() => undefined);
    this.settledMs = Date.now() - begin;
  }

  /** Returns the ids of the messages of a channel's conversations. */
  async idsOf(channel: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT m.id FROM messages m JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
       WHERE c.source_channel = $1`,
      [channel],
    );
    return rows.map(({ id }) => id);
  }

  /** Stops the processes and the clients, even after a failed upgrade. */
  async stopProcesses(): Promise<void> {
    await this.clients.stop();
    await this.fleet.stop();
  }

  stop(): Promise<void> {
    return this.endings.run();
  }

  private async queued(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM messages WHERE delivery_status = 'QUEUED'`,
    );
    return row!.count;
  }

  /** Runs one step, which lasts until the clients have got several more answers. */
  private async step(name: string, act: () => Promise<void>): Promise<void> {
    const { ledger } = this.clients;
    const begin = Date.now();
    const before = ledger.promised.size;
    await act();
    const ms = Date.now() - begin;
    await this.clients.waitForMore();
    const retries = this.clients.retries.filter(({ at }) => at >= begin).map(({ reason }) => reason);
    this.steps.push({ name, ms, messages: ledger.promised.size - before, retries });
  }
}

function startReceiver(
  name: (typeof RECEIVERS)[number],
  book: Ledger,
  random: Random,
): Promise<ChaosReceiver> {
  const cert = readFileSync(setting('TEST_CERT_FILE'), 'utf8');
  const key = readFileSync(setting('TEST_KEY_FILE'), 'utf8');
  const usual = name === 'steady' ? answering : failingAtFirst();
  return ChaosReceiver.start({ files: { cert, key }, book, random, usual });
}
