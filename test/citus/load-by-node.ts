import { readFileSync } from 'node:fs';
import { answering } from '../chaos/behaviours';
import { Conversation } from '../chaos/chaos-host';
import { Client } from '../chaos/client';
import { Ledger } from '../chaos/ledger';
import { Load } from '../chaos/load';
import { Random } from '../chaos/random';
import { ChaosReceiver } from '../chaos/receivers';
import { pending } from '../chaos/tables';
import { contradictions } from '../support/integrity';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { setting } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';
import { CitusNodes, Group } from './citus-nodes';

/** Workspaces of a node: more than a process has connections. */
const WORKSPACES_OF_A_NODE = 24;
const NO_RATE_LIMIT = 1_000_000;
/** Time for which a receiver keeps attempts waiting. */
const HOLD_MS = 2_500;
/** Name of the receiver of all webhooks of a load. */
const RECEIVER = 'hooks';
/** Time for a message to be taken, or for all deliveries, once the nodes are there again. */
const BACK_WITHIN_MS = 60_000;

/** Messages to the workspaces of one node, and what becomes of them. */
export class NodeLoad {
  readonly client: Client;
  private readonly load: Load;

  constructor(
    apis: ServiceProcess[],
    readonly conversations: readonly Conversation[],
    readonly ledger: Ledger,
    private readonly receiver: ChaosReceiver,
    seed: number,
  ) {
    this.client = new Client(apis);
    this.load = new Load(this.client, conversations, ledger, new Random(seed));
  }

  start(): void {
    this.load.start();
  }

  /** Settles when every message that was begun got 201. */
  stop(): Promise<void> {
    return this.load.stop();
  }

  /** Settles once so many more messages are answered with 201 and delivered. */
  async waitForMore(count: number): Promise<void> {
    const begin = Date.now();
    await waitFor(
      `${count} messages`,
      () => this.ledger.latencies(RECEIVER, begin, Infinity).length >= count,
      BACK_WITHIN_MS,
    ).catch((error: Error) => {
      const { ledger, client } = this;
      const state = {
        promised: ledger.promised.size,
        arrivals: ledger.arrivals,
        last: client.retries.at(-1),
      };
      throw new Error(`${error.message}: ${JSON.stringify(state)}`);
    });
  }

  /** Sends a message to each conversation. Settles while the receiver keeps as many attempts waiting. */
  async holdAttempts(): Promise<void> {
    let held = 0;
    this.receiver.behave({
      async answer(exchange) {
        held += 1;
        await letTimePass(HOLD_MS);
        if (!exchange.response.destroyed) await answering.answer(exchange);
      },
    });
    const random = new Random(0);
    for (const message of await Promise.all(this.conversations.map((one) => this.client.send(one, random))))
      this.ledger.promise(message!);
    await waitFor('the attempts', () => held >= this.conversations.length);
    this.receiver.heal();
  }

  /** Returns how many messages were answered with 201 since a moment. */
  countSince(moment: number): number {
    return this.promisedSince(moment).length;
  }

  /** Returns when the first message after a moment was answered with 201. */
  firstAfter(moment: number): number {
    return Math.min(...this.promisedSince(moment).map(({ at }) => at));
  }

  /** Returns the longest time from a first request to its answer of 201, of the messages since a moment. */
  longestWait(since: number): number {
    return Math.max(0, ...this.promisedSince(since).map(({ askedAt, at }) => at - askedAt));
  }

  /** Returns the longest time from an answer of 201 to the arrival of the webhook, since a moment. */
  longestDelivery(since: number): number {
    return Math.max(0, ...this.ledger.latencies(RECEIVER, since, Infinity));
  }

  undelivered(): string[] {
    return this.ledger.missing([RECEIVER]);
  }

  private promisedSince(since: number) {
    return [...this.ledger.promised.values()].filter(({ at }) => at >= since);
  }
}

/** API processes and workers on nodes of Citus, under a load for the workspaces of each node. */
export class LoadByNode {
  private constructor(
    private readonly nodes: CitusNodes,
    readonly apis: ServiceProcess[],
    private readonly workers: ServiceProcess[],
    private readonly receivers: ChaosReceiver[],
    /** Loads of the nodes, by group. */
    private readonly loads: Map<number, NodeLoad>,
  ) {}

  /**
   * Starts the processes and the load.
   * @param stores addresses of the nodes, if other than those that the nodes have themselves
   */
  static async start(
    nodes: CitusNodes,
    stores = nodes.stores,
    env: Record<string, string> = {},
  ): Promise<LoadByNode> {
    const receivers: ChaosReceiver[] = [];
    const apis: ServiceProcess[] = [];
    const loads = new Map<number, NodeLoad>();
    const maker = await TestService.create({ role: 'all', beside: { stores }, env });
    for (const { id } of await nodes.groups()) {
      const ledger = new Ledger();
      const receiver = await startReceiver(ledger);
      receivers.push(receiver);
      const conversations: Conversation[] = [];
      while (conversations.length < WORKSPACES_OF_A_NODE) {
        const workspace = await WebhookWorkspace.create(maker, { rateLimit: NO_RATE_LIMIT });
        if ((await nodes.groupOfWorkspace(workspace.id)) !== id) continue;
        await maker.make.agent(workspace);
        await workspace.addEndpoint(receiver.urlOf(RECEIVER));
        const { key: apiKey } = await maker.make.apiKey(workspace);
        conversations.push({ id: workspace.conversation.id, workspaceId: workspace.id, apiKey });
      }
      loads.set(id, new NodeLoad(apis, conversations, ledger, receiver, id));
    }
    await maker.close();
    const start = (role: 'api' | 'worker') => ServiceProcess.start(role, stores, env);
    apis.push(...(await Promise.all([start('api'), start('api')])));
    const workers = await Promise.all([start('worker'), start('worker')]);
    for (const load of loads.values()) load.start();
    return new LoadByNode(nodes, apis, workers, receivers, loads);
  }

  /**
   * Sends requests for the workspaces of a node, evenly and without waiting for answers.
   * @returns a function that stops, and tells how many answers had each status
   */
  flood(group: Group, perSecond: number): () => Record<number, number> {
    const { conversations } = this.of(group);
    const answers: Record<number, number> = {};
    let sent = 0;
    const timer = setInterval(() => {
      const { apiKey } = conversations[sent % conversations.length]!;
      const api = this.apis[sent++ % this.apis.length]!;
      void fetch(`${api.url}/api/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } }).then(
        async ({ status, body }) => {
          answers[status] = (answers[status] ?? 0) + 1;
          await body?.cancel();
        },
        () => undefined,
      );
    }, 1_000 / perSecond);
    return () => {
      clearInterval(timer);
      return answers;
    };
  }

  of({ id }: Group): NodeLoad {
    return this.loads.get(id)!;
  }

  /** Settles once so many more messages of each node are answered with 201 and delivered. */
  async waitForMore(count: number): Promise<void> {
    await Promise.all([...this.loads.values()].map((load) => load.waitForMore(count)));
  }

  /** Stops the load. Settles when every message that was begun is stored, and all deliveries have ended. */
  async settle(): Promise<void> {
    await Promise.all([...this.loads.values()].map((load) => load.stop()));
    await waitFor('every delivery to end', async () => (await pending(this.nodes)) === 0, BACK_WITHIN_MS);
  }

  /** Lists what is wrong once all is settled: lost or repeated messages, missing webhooks, wrong answers. */
  async listFaults(): Promise<string[]> {
    const loads = [...this.loads.values()];
    const stored = await this.nodes.query<{ id: string }>('SELECT id FROM messages');
    const ids = new Set(stored.map(({ id }) => id));
    const begun = loads.reduce((sum, { client }) => sum + client.begun, 0);
    return [
      ...loads.flatMap(({ client }) => client.unexpected),
      ...loads
        .flatMap(({ ledger }) => [...ledger.promised.keys()].filter((id) => !ids.has(id)))
        .map((id) => `lost ${id}`),
      ...(stored.length === begun ? [] : [`${stored.length} messages are stored, and ${begun} were sent`]),
      ...loads.flatMap((load) => load.undelivered()).map((id) => `${id} was not delivered`),
      ...(await contradictions((sql) => this.nodes.query(sql))),
    ];
  }

  /** Ends the processes, with the requests under way. */
  async stop(): Promise<void> {
    for (const { client } of this.loads.values()) client.giveUp();
    await Promise.all([...this.loads.values()].map((load) => load.stop()));
    await Promise.all([...this.apis, ...this.workers].map((process) => process.end()));
    await Promise.all(this.receivers.map((receiver) => receiver.stop()));
  }
}

async function startReceiver(book: Ledger): Promise<ChaosReceiver> {
  const files = {
    cert: readFileSync(setting('TEST_CERT_FILE'), 'utf8'),
    key: readFileSync(setting('TEST_KEY_FILE'), 'utf8'),
  };
  return ChaosReceiver.start({ files, book, usual: answering, random: new Random(1) });
}
