import { Client } from './client';
import { Conversation } from './chaos-host';
import { Ledger } from './ledger';
import { Random } from './random';
import { Repeated } from './repeated';

const PACE = { callers: 6, pauseMs: { least: 100, most: 400 } };

/** Clients that send messages without pause. */
export class Load {
  /** Number of messages that the clients have begun to send. */
  begun = 0;
  private readonly senders: Repeated;

  constructor(
    private readonly client: Client,
    private readonly conversations: readonly Conversation[],
    private readonly ledger: Ledger,
    random: Random,
  ) {
    this.senders = new Repeated((sender) => this.send(sender), random, PACE);
  }

  start(): void {
    this.senders.start();
  }

  /** Settles when every message that was begun got 201. */
  stop(): Promise<void> {
    return this.senders.stop();
  }

  private async send(random: Random): Promise<void> {
    this.begun += 1;
    const sent = await this.client.send(random.pick(this.conversations), random);
    if (sent) this.ledger.promise(sent);
  }
}
