import { setTimeout as sleep } from 'node:timers/promises';
import { Conversation } from './chaos-host';
import { Random } from './random';

const RETRY_MS = { least: 100, most: 500 };
const GIVE_UP_ON_ANSWER_MS = 10_000;

/** A message answered with 201. */
export interface Sent {
  messageId: string;
  /** Time of the first request. */
  askedAt: number;
}

/** Status of a request without a response: its message may be stored or not. */
const NO_RESPONSE = 0;

interface Answer {
  status: number;
  messageId: string;
  /** Body of the answer, or the reason why there is none. */
  text: string;
}

/** An API process, or a load balancer before several. */
interface Server {
  url: string;
}

/** A request that was sent again. */
interface Retry {
  /** Number of the message. */
  message: number;
  at: number;
  reason: string;
}

/** Sends messages. It repeats a request, with the same idempotency key, until it gets 201. */
export class Client {
  /** Responses that no fault explains: neither 201 nor 503 with `Retry-After`. */
  readonly unexpected: string[] = [];
  readonly retries: Retry[] = [];
  private readonly underWay = new Map<Server, number>();
  private begunCount = 0;
  private hasGivenUp = false;

  constructor(private readonly apis: readonly Server[]) {}

  /** Number of messages that the client has begun to send. */
  get begun(): number {
    return this.begunCount;
  }

  requestsUnderWay(api: Server): number {
    return this.underWay.get(api) ?? 0;
  }

  /** Ends the repetition of requests, for example after a failed run in which no service answers. */
  giveUp(): void {
    this.hasGivenUp = true;
  }

  /**
   * Sends a message.
   * @returns null when the request was refused
   */
  async send(conversation: Conversation, random: Random): Promise<Sent | null> {
    const number = ++this.begunCount;
    const askedAt = Date.now();
    for (;;) {
      const { status, messageId, text } = await this.post(random.pick(this.apis), conversation, number);
      if (status === 201) return { messageId, askedAt };
      const reason = status === NO_RESPONSE ? text : `${status}: ${text}`;
      if (status !== NO_RESPONSE && status !== 503)
        this.unexpected.push(`POST of message ${number} was answered with ${reason}`);
      const isRefused = status !== NO_RESPONSE && status < 500;
      if (this.hasGivenUp || isRefused) return null;
      this.retries.push({ message: number, at: Date.now(), reason });
      await sleep(random.between(RETRY_MS.least, RETRY_MS.most));
    }
  }

  private async post(api: Server, { id, apiKey }: Conversation, number: number): Promise<Answer> {
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
      if (response.status === 503 && !response.headers.has('retry-after'))
        this.unexpected.push(`POST of message ${number} was answered with 503 without Retry-After`);
      const messageId = response.status === 201 ? JSON.parse(text).message.id : '';
      return { status: response.status, messageId, text };
    } catch (error) {
      return { status: NO_RESPONSE, messageId: '', text: reasonOf(error) };
    } finally {
      this.underWay.set(api, this.requestsUnderWay(api) - 1);
    }
  }
}

/** Returns the reason of a failed fetch. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error };
  return cause?.message ?? message;
}
