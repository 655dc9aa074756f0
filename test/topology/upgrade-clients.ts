import { Client } from '../chaos/client';
import { Conversation } from '../chaos/chaos-host';
import { Ledger } from '../chaos/ledger';
import { Load } from '../chaos/load';
import { Random } from '../chaos/random';
import { Repeated } from '../chaos/repeated';
import { ApiClient } from '../support/api-client';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';
import { ORIGIN, TestVisitor } from '../support/widget';
import { RetryingCaller } from './retrying-caller';
import { UpgradeWorkspace } from './upgrade-workspace';
import { VisitorPage } from './visitor-page';

/** Number of Telegram's customers. There are many, because Telegram takes one message a second for each. */
const CUSTOMERS = 24;
const CUSTOMERS_PACE = { callers: 3, pauseMs: { least: 100, most: 400 } };
const READERS_PACE = { callers: 3, pauseMs: { least: 50, most: 200 } };
/** Pace of a visitor, who may write 30 messages a minute. */
const VISITOR_PACE = { callers: 1, pauseMs: { least: 2_500, most: 4_000 } };

interface Surroundings {
  /** Address of the balancer. */
  url: string;
  workspace: UpgradeWorkspace;
  telegram: TelegramSimulator;
  ledger: Ledger;
  random: Random;
}

/**
 * Clients that call the service during an upgrade: agents' programs, customers on Telegram, and a visitor
 * with a page.
 */
export class UpgradeClients {
  readonly caller = new RetryingCaller();
  readonly agents: Client;
  /** Bodies of the messages that customers and the visitor wrote. */
  readonly written: string[] = [];
  private readonly page: VisitorPage;
  private readonly customers: Repeated;
  private readonly readers: Repeated;
  private readonly visitorWrites: Repeated;
  private load: Load | null = null;

  private constructor(
    private readonly surroundings: Surroundings,
    private readonly api: ApiClient,
    private readonly visitor: TestVisitor,
  ) {
    const { url, random } = surroundings;
    this.agents = new Client([{ url }]);
    this.page = new VisitorPage(visitor, this.caller);
    this.customers = new Repeated(
      (one) => this.writeOnTelegram(one),
      random.stream('customers'),
      CUSTOMERS_PACE,
    );
    this.readers = new Repeated((one) => this.read(one), random.stream('readers'), READERS_PACE);
    this.visitorWrites = new Repeated(() => this.writeInWidget(), random.stream('visitor'), VISITOR_PACE);
  }

  static async start(surroundings: Surroundings): Promise<UpgradeClients> {
    const { url, workspace } = surroundings;
    const api = new ApiClient([url], null);
    const page = new TestVisitor({ path: workspace.widgetPath }, api.with({ origin: ORIGIN }));
    const session = await page.open();
    if (session.status !== 201)
      throw new Error(`No session: ${session.status} ${JSON.stringify(session.body)}`);
    const visitor = page.as(session.body.token as string, url);
    const clients = new UpgradeClients(surroundings, api.as({ key: workspace.apiKey }), visitor);
    await clients.begin();
    return clients;
  }

  /** Ledger of messages promised to agents and of deliveries accepted by receivers. */
  get ledger(): Ledger {
    return this.surroundings.ledger;
  }

  /** Ids of the messages that the visitor's page has. */
  get seenOnPage(): Set<string> {
    return new Set(this.page.messages.keys());
  }

  /** Requests that were sent again. */
  get retries(): { at: number; reason: string }[] {
    return [...this.agents.retries, ...this.caller.retries];
  }

  get streamEnds(): readonly string[] {
    return this.page.ends;
  }

  /** Settles when every kind of client has got several more answers. */
  async waitForMore(): Promise<void> {
    const before = { answered: this.caller.answered, promised: this.ledger.promised.size };
    await waitFor(
      'the clients to be answered',
      () => this.caller.answered > before.answered + 30 && this.ledger.promised.size > before.promised + 20,
      60_000,
    );
  }

  /** Ends the load. Settles when all requests in progress have ended. The page stays open. */
  async stopLoad(): Promise<void> {
    await Promise.all([
      this.load?.stop(),
      this.customers.stop(),
      this.readers.stop(),
      this.visitorWrites.stop(),
    ]);
  }

  async stop(): Promise<void> {
    this.agents.giveUp();
    await this.stopLoad();
    await this.page.stop();
    this.api.close();
  }

  /** Starts the conversations, which customers begin and agents answer. */
  private async begin(): Promise<void> {
    await this.writeInWidget();
    for (let customer = 1; customer <= CUSTOMERS; customer++) await this.writeAs(customer);
    const { workspace, ledger, random } = this.surroundings;
    const { id: workspaceId, apiKey } = workspace;
    const listed = await this.api.all('/conversations', 50);
    const conversations: Conversation[] = listed.map(({ id }) => ({ id, workspaceId, apiKey }));
    this.load = new Load(this.agents, conversations, ledger, random.stream('agents'));
    this.page.start();
    for (const one of [this.load, this.customers, this.readers, this.visitorWrites]) one.start();
  }

  private writeOnTelegram(random: Random): Promise<void> {
    return this.writeAs(random.between(1, CUSTOMERS));
  }

  private async writeAs(customer: number): Promise<void> {
    const text = this.nextText('Question');
    const { telegram, workspace } = this.surroundings;
    const update = telegram.textUpdate(customer, text);
    await this.caller.call(`the hook of ${text}`, async () => ({
      status: await telegram.deliver(workspace.botToken, update),
    }));
  }

  private async writeInWidget(): Promise<void> {
    const text = this.nextText('Visit');
    const id = text.replace(' ', '-');
    await this.caller.call(`the visitor's POST of ${text}`, () => this.visitor.post(id, text));
  }

  private nextText(kind: string): string {
    const text = `${kind} ${this.written.length + 1}`;
    this.written.push(text);
    return text;
  }

  private async read(random: Random): Promise<void> {
    const path = random.pick(['/me', '/conversations?limit=5', '/contacts?limit=5']);
    await this.caller.call(`GET ${path}`, () => this.api.get(path));
  }
}
