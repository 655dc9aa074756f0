import { setTimeout as sleep } from 'node:timers/promises';
import { Conversation } from './fixture';
import { Ledger } from './ledger';
import { Random } from './random';
import { ServiceProcess } from './service-process';

const SENDERS = 6;
const PAUSE_MS = { least: 100, most: 400 };
const RETRY_MS = { least: 100, most: 500 };
const GIVE_UP_ON_ANSWER_MS = 10_000;

/** Clients that send messages all the time. They repeat a request, with the same idempotency key, until it gets 201. */
export class Load {
  /** Responses that no fault explains: neither 201 nor 503. */
  readonly unexpected: string[] = [];
  retries = 0;
  private readonly underWay = new Map<ServiceProcess, number>();
  private senders: Promise<unknown> = Promise.resolve();
  private stopped = false;
  private sent = 0;

  constructor(
    private readonly apis: readonly ServiceProcess[],
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

  get begun(): number {
    return this.sent;
  }

  requestsUnderWay(api: ServiceProcess): number {
    return this.underWay.get(api) ?? 0;
  }

  private async send(random: Random): Promise<void> {
    while (!this.stopped) {
      const conversation = random.pick(this.conversations);
      const number = ++this.sent;
      const messageId = await this.sendUntilAnswered(conversation, number, random);
      if (messageId) this.ledger.promise(messageId, conversation.workspaceId);
      await sleep(random.between(PAUSE_MS.least, PAUSE_MS.most));
    }
  }

  private async sendUntilAnswered(
    conversation: Conversation,
    number: number,
    random: Random,
  ): Promise<string | null> {
    for (;;) {
      const response = await this.post(random.pick(this.apis), conversation, number);
      if (response?.status === 201) return response.messageId;
      if (response && response.status < 500) {
        this.unexpected.push(
          `POST of message ${number} was answered with ${response.status}: ${response.text}`,
        );
        return null;
      }
      if (response && response.status !== 503)
        this.unexpected.push(
          `POST of message ${number} was answered with ${response.status}: ${response.text}`,
        );
      this.retries += 1;
      await sleep(random.between(RETRY_MS.least, RETRY_MS.most));
    }
  }

  /** Null without a response: the message may be stored or not. */
  private async post(
    api: ServiceProcess,
    { id, apiKey }: Conversation,
    number: number,
  ): Promise<{ status: number; messageId: string; text: string } | null> {
    this.underWay.set(api, this.requestsUnderWay(api) + 1);
    try {
      const response = await fetch(`${api.url}/api/v1/conversations/${id}/messages`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': `message-${number}`,
        },
        body: JSON.stringify({ body: `Message ${number}` }),
        signal: AbortSignal.timeout(GIVE_UP_ON_ANSWER_MS),
      });
      const text = await response.text();
      const messageId = response.status === 201 ? JSON.parse(text).message.id : '';
      return { status: response.status, messageId, text };
    } catch {
      return null;
    } finally {
      this.underWay.set(api, this.requestsUnderWay(api) - 1);
    }
  }
}
