import { setTimeout as sleep } from 'node:timers/promises';
import { Conversation } from './dashboard';
import { Random } from './random';
import { ServiceProcess } from './service-process';

const RETRY_MS = { least: 100, most: 500 };
const GIVE_UP_ON_ANSWER_MS = 10_000;

/** A message answered with 201. */
export interface Sent {
  messageId: string;
  /** When it was first asked for. */
  askedAt: number;
}

interface Answer {
  status: number;
  messageId: string;
  text: string;
}

/** Sends messages. It repeats a request, with the same idempotency key, until it gets 201. */
export class Client {
  /** Responses that no fault explains: neither 201 nor 503. */
  readonly unexpected: string[] = [];
  retries = 0;
  private readonly underWay = new Map<ServiceProcess, number>();
  private begunCount = 0;
  private hasGivenUp = false;

  constructor(private readonly apis: readonly ServiceProcess[]) {}

  /** Messages that it began to send. */
  get begun(): number {
    return this.begunCount;
  }

  requestsUnderWay(api: ServiceProcess): number {
    return this.underWay.get(api) ?? 0;
  }

  /** Sends nothing again, as after a run that failed: nobody may be there to answer. */
  giveUp(): void {
    this.hasGivenUp = true;
  }

  /** @returns null when the request was refused */
  async send(conversation: Conversation, random: Random): Promise<Sent | null> {
    const number = ++this.begunCount;
    const askedAt = Date.now();
    for (;;) {
      const response = await this.post(random.pick(this.apis), conversation, number);
      if (response?.status === 201) return { messageId: response.messageId, askedAt };
      if (response && response.status !== 503)
        this.unexpected.push(
          `POST of message ${number} was answered with ${response.status}: ${response.text}`,
        );
      if (this.hasGivenUp || (response && response.status < 500)) return null;
      this.retries += 1;
      await sleep(random.between(RETRY_MS.least, RETRY_MS.most));
    }
  }

  /** Null without a response: the message may be stored or not. */
  private async post(
    api: ServiceProcess,
    { id, apiKey }: Conversation,
    number: number,
  ): Promise<Answer | null> {
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
