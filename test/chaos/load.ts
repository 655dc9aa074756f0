import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client';
import { Conversation } from './dashboard';
import { Ledger } from './ledger';
import { Random } from './random';

const SENDERS = 6;
const PAUSE_MS = { least: 100, most: 400 };

/** Clients that send messages all the time. */
export class Load {
  /** Messages that it began to send. */
  begun = 0;
  private senders: Promise<unknown> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly client: Client,
    private readonly conversations: readonly Conversation[],
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  start(): void {
    const senders = Array.from({ length: SENDERS }, (_, index) =>
      this.send(this.random.stream(`sender ${index}`)),
    );
    this.senders = Promise.all(senders);
    this.senders.catch(() => undefined); // stop() reports it
  }

  /** Settles when every message that was begun got 201. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.senders;
  }

  private async send(random: Random): Promise<void> {
    while (!this.stopped) {
      this.begun += 1;
      const sent = await this.client.send(random.pick(this.conversations), random);
      if (sent) this.ledger.promise(sent);
      await sleep(random.between(PAUSE_MS.least, PAUSE_MS.most));
    }
  }
}
