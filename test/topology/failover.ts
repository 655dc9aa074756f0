import { Client } from '../chaos/client';
import { Ledger } from '../chaos/ledger';
import { Load } from '../chaos/load';
import { Random } from '../chaos/random';
import { Config } from '../../src/config/config';
import { migrate } from '../../src/database/setup/migrator';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { environmentOf } from '../support/service-process';
import { PostgresPair } from '../support/standby';
import { TcpProxy } from '../support/tcp-proxy';
import { ownRedis, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const CONVERSATIONS = 4;
/** Time for which the API may refuse messages after the promotion before the test gives up. */
const BACK_WITHIN_MS = 60_000;

export interface FailoverOptions {
  isSynchronous: boolean;
  /** Kind of address. `hosts`: it names both servers. `proxy`: it names one, and is moved. */
  address: 'hosts' | 'proxy';
  /** True if the primary falls silent instead of being killed. */
  isSilent?: boolean;
}

/** The service over a primary and its standby, under load, with a receiver of its webhooks. */
export class Failover {
  readonly ledger = new Ledger();
  readonly client: Client;
  private readonly load: Load;

  private constructor(
    private readonly options: FailoverOptions,
    readonly pair: PostgresPair,
    private readonly proxy: TcpProxy | null,
    readonly service: TestService,
    readonly receiver: Receiver,
    readonly workspace: WebhookWorkspace,
    conversations: { id: string; workspaceId: string; apiKey: string }[],
  ) {
    this.client = new Client([{ url: service.baseUrl }]);
    this.load = new Load(this.client, conversations, this.ledger, new Random(1));
  }

  static async start(options: FailoverOptions): Promise<Failover> {
    const { isSynchronous, address } = options;
    const redisUrl = await ownRedis();
    const pair = await PostgresPair.start({ isSynchronous }, async (primary) => {
      await migrate(configOf({ ...primary, databaseAdminUrl: primary.adminUrl, redisUrl }), 'up');
    });
    const proxy = address === 'proxy' ? await TcpProxy.start(pair.urls('databaseUrl').primary) : null;
    const urlOf = (name: 'databaseUrl' | 'databaseOwnerUrl') =>
      proxy ? proxy.reroute(pair.urls(name).primary) : pair.both(name);
    const stores = {
      databaseUrl: urlOf('databaseUrl'),
      databaseOwnerUrl: urlOf('databaseOwnerUrl'),
      databaseAdminUrl: pair.adminUrl,
      redisUrl,
    };
    const service = await TestService.create({ role: 'all', beside: { stores } });
    const receiver = await Receiver.start();
    const workspace = await WebhookWorkspace.create(service, { rateLimit: 1_000_000 });
    await service.make.agent(workspace);
    await workspace.addEndpoint(receiver.url());
    const { key: apiKey } = await service.make.apiKey(workspace);
    const conversations = [];
    while (conversations.length < CONVERSATIONS) {
      const { id } = await service.make.conversation(workspace);
      conversations.push({ id, workspaceId: workspace.id, apiKey });
    }
    return new Failover(options, pair, proxy, service, receiver, workspace, conversations);
  }

  startLoad(): void {
    this.load.start();
  }

  /** Settles once so many more messages are answered with 201. */
  async messages(count: number): Promise<void> {
    const { size } = this.ledger.promised;
    await waitFor(`${count} messages`, () => this.ledger.promised.size >= size + count, BACK_WITHIN_MS);
  }

  /**
   * Makes the primary die or fall silent, promotes the standby, and leads the address there.
   * @returns the time from the promotion to the first message that was answered with 201
   */
  async failOver(): Promise<number> {
    if (this.options.isSilent) this.pair.silencePrimary();
    else await this.pair.killPrimary();
    await waitFor('a refusal', () => this.client.retries.length > 0);
    const before = Date.now();
    await this.pair.promote();
    this.proxy?.switchTo(this.pair.urls('databaseUrl').standby);
    await waitFor(
      'a message',
      () => [...this.ledger.promised.values()].some(({ at }) => at >= before),
      BACK_WITHIN_MS,
    );
    return this.pair.msSincePromotion();
  }

  stopLoad(): Promise<void> {
    return this.load.stop();
  }

  /** Returns the messages that were answered with 201 and are missing. */
  async lostMessages(): Promise<string[]> {
    const rows = await this.query<{ id: string }>('SELECT id FROM messages');
    const kept = new Set(rows.map(({ id }) => id));
    return [...this.ledger.promised.keys()].filter((id) => !kept.has(id));
  }

  /** Returns the stored messages whose webhook has not arrived, once no work is in progress any more. */
  async undelivered(): Promise<string[]> {
    await waitFor(
      'empty queues',
      async () => {
        const [row] = await this.query<{ waiting: number }>(
          `SELECT (SELECT count(*) FROM event_queue)::int + (SELECT count(*) FROM pending_deliveries)::int AS waiting`,
        );
        return row!.waiting === 0;
      },
      BACK_WITHIN_MS,
    );
    const rows = await this.query<{ id: string }>('SELECT id FROM messages');
    const arrived = new Set(this.receiver.received().map(({ envelope }) => envelope.data.message.id));
    return rows.filter(({ id }) => !arrived.has(id)).map(({ id }) => id);
  }

  /** Runs a query on the server that took over. */
  query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.pair.query<Row>('standby', sql, parameters);
  }

  async stop(): Promise<void> {
    this.client.giveUp();
    await this.load.stop();
    await this.service.close();
    await this.receiver.stop();
    await this.proxy?.cut();
    if (this.options.isSilent) await this.pair.killPrimary();
    await this.pair.stop();
  }
}

function configOf(stores: TestStores): Config {
  return Config.from({ ...environmentOf(stores, 'worker'), ROLE: 'worker' });
}
