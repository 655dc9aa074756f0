import { setTimeout as sleep } from 'node:timers/promises';
import { Behaviour } from './behaviours';
import { Client } from './client';
import { Conversation, ChaosHost } from './chaos-host';
import { Arrival, Ledger } from './ledger';
import { NeighbourEndpoint } from './neighbour-endpoint';
import { Random } from './random';
import { ChaosReceiver, TlsFiles } from './receivers';

const SENDERS = 16;
const LOOK_MS = 250;

/** Options of one endpoint. */
interface EndpointOptions {
  /** Rate limit in deliveries a second; no limit by default. */
  rateLimit?: number;
}

/** An additional workspace with endpoints of its own, which exists for one fault. */
export class Neighbour {
  readonly endpoints: NeighbourEndpoint[] = [];
  readonly ledger = new Ledger();
  private readonly since = new Date();
  private readonly log: (Arrival & { at: number })[] = [];

  receiver!: ChaosReceiver;

  constructor(
    readonly name: string,
    private readonly conversation: Conversation,
    private readonly host: ChaosHost,
    private readonly client: Client,
    private readonly random: Random,
  ) {}

  /** Registers the endpoints, all at one receiver. */
  async open(receiver: ChaosReceiver, endpoints: readonly EndpointOptions[]): Promise<void> {
    this.receiver = receiver;
    for (const options of endpoints) {
      const name = `${this.name}-${this.endpoints.length + 1}`;
      const endpoint = new NeighbourEndpoint(name);
      await endpoint.change('opened', async () => {
        const url = receiver.urlOf(name);
        endpoint.id = await this.host.createEndpoint(this.workspaceId, { ...options, url });
      });
      this.endpoints.push(endpoint);
    }
  }

  /** Sends messages. Settles when all are answered with 201. */
  async send(messages: number): Promise<void> {
    let left = messages;
    const sendAll = async (random: Random) => {
      while (left-- > 0) {
        const sent = await this.client.send(this.conversation, random);
        if (sent) this.ledger.promise(sent);
      }
    };
    const senders = Array.from({ length: SENDERS }, (_, index) => this.random.stream(`sender ${index}`));
    await Promise.all(senders.map(sendAll));
  }

  /**
   * Activates an endpoint.
   * @returns the milliseconds until the answer
   */
  activate(endpoint: NeighbourEndpoint): Promise<number> {
    return endpoint.change('opened', () => this.host.activate(this.workspaceId, endpoint.id));
  }

  /**
   * Deactivates an endpoint.
   * @returns the milliseconds until the answer
   */
  deactivate(endpoint: NeighbourEndpoint): Promise<number> {
    return endpoint.change('closed', () => this.host.deactivate(this.workspaceId, endpoint.id));
  }

  /**
   * Deletes an endpoint.
   * @returns the milliseconds until the answer
   */
  delete(endpoint: NeighbourEndpoint): Promise<number> {
    return endpoint.change('closed', () => this.host.delete(this.workspaceId, endpoint.id));
  }

  /**
   * Starts a recovery of everything before.
   * @returns the milliseconds until the answer
   */
  recover(endpoint: NeighbourEndpoint): Promise<number> {
    return endpoint.change('recovered', () => this.host.recover(this.workspaceId, endpoint.id, this.since));
  }

  arrive(arrival: Arrival): void {
    this.ledger.arrive(arrival);
    this.log.push({ ...arrival, at: Date.now() });
  }

  accept(arrival: Arrival): void {
    this.ledger.accept(arrival);
  }

  /** Returns the messages that an endpoint should have got and did not, each as `endpoint: message`. */
  missing(): string[] {
    const messages = [...this.ledger.promised];
    return this.endpoints.flatMap((endpoint) =>
      messages
        .filter(([id, message]) => endpoint.mustGet(message) && !this.ledger.hasReached(endpoint.name, id))
        .map(([id]) => `${endpoint.name}: ${id}`),
    );
  }

  /**
   * Returns the messages that an endpoint must not have got, each as `endpoint: message (reason)`: they
   * arrived after the endpoint's end, or had waited for it before its end.
   */
  sentToGone(): string[] {
    return this.log.flatMap(({ receiver, messageId, at }) => {
      const endpoint = this.endpoints.find(({ name }) => name === receiver);
      const objection = endpoint?.objection(this.ledger.promised.get(messageId), at);
      return objection ? `${receiver}: ${messageId} (${objection})` : [];
    });
  }

  /** Returns the deliveries that were accepted by endpoints which were never deactivated or deleted. */
  acceptedAlways(): Arrival[] {
    const names = new Set(this.endpoints.filter((one) => one.wasAlwaysOpen).map(({ name }) => name));
    return this.ledger.accepted.filter(({ receiver }) => names.has(receiver));
  }

  get workspaceId(): string {
    return this.conversation.workspaceId;
  }

  /**
   * Settles when each endpoint has got the messages that it must get, or when the time is over. The suite
   * judges the result at its end.
   */
  async settle(patienceMs: number): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (this.missing().length > 0 && Date.now() < deadline) await sleep(LOOK_MS);
  }
}

/** Makes neighbours, and keeps them until they are judged. */
export class Neighbours {
  readonly all: Neighbour[] = [];

  constructor(
    private readonly host: ChaosHost,
    private readonly client: Client,
    private readonly files: TlsFiles,
    private readonly random: Random,
  ) {}

  async make(usual: Behaviour, endpoints: readonly EndpointOptions[]): Promise<Neighbour> {
    const name = `neighbour-${this.all.length + 1}`;
    const random = this.random.stream(name);
    const [conversation] = await this.host.makeConversations(1);
    const neighbour = new Neighbour(name, conversation!, this.host, this.client, random);
    this.all.push(neighbour);
    await neighbour.open(
      await ChaosReceiver.start({ files: this.files, book: neighbour, random, usual }),
      endpoints,
    );
    return neighbour;
  }

  missing(): string[] {
    return this.all.flatMap((neighbour) => neighbour.missing());
  }

  sentToGone(): string[] {
    return this.all.flatMap((neighbour) => neighbour.sentToGone());
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map(({ receiver }) => receiver.stop()));
  }
}
