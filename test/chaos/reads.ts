import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './client';
import { Conversation } from './chaos-host';
import { Random } from './random';
import { ChaosProcess } from './service-process';
import { Span, Stores } from './stores';

const EVERY_MS = 200;
const GIVE_UP_MS = 10_000;
/** Time for a pool to replace lost connections. */
const RECONNECT_MS = 1_000;

interface Answer {
  status: number | null;
  retryAfter: string | null;
  failure: string | null;
}

/** Clients that read from each API process without pause. Only a fault may explain a failure. */
export class Reads {
  answered = 0;
  unavailable = 0;
  slowestMs = 0;
  readonly unexplained: string[] = [];
  private readers: Promise<unknown> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly apis: readonly ChaosProcess[],
    private readonly conversations: readonly Conversation[],
    private readonly stores: Stores,
    private readonly random: Random,
  ) {}

  start(): void {
    this.readers = Promise.all(this.apis.map((api) => this.readAll(api, this.random.stream(api.name))));
    this.readers.catch(() => undefined); // stop() reports it
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.readers;
  }

  private async readAll(api: ChaosProcess, random: Random): Promise<void> {
    while (!this.stopped) {
      await this.read(api, random);
      await sleep(EVERY_MS);
    }
  }

  private async read(api: ChaosProcess, random: Random): Promise<void> {
    const conversation = random.pick(this.conversations);
    const path = random.pick([
      'me',
      'conversations?limit=5',
      `conversations/${conversation.id}/messages?limit=5`,
    ]);
    const span: Span = { from: Date.now(), to: Infinity };
    const answer = await get(`${api.url}/api/v1/${path}`, conversation.apiKey);
    span.to = Date.now();
    this.judge(api, path, answer, span);
  }

  private judge(api: ChaosProcess, path: string, answer: Answer, span: Span): void {
    if (answer.status === 200) {
      this.answered += 1;
      this.slowestMs = Math.max(this.slowestMs, span.to - span.from);
    } else if (this.isExplained(api, answer, span)) this.unavailable += 1;
    else {
      const what = answer.status ? `answered with ${answer.status}` : `not answered (${answer.failure})`;
      this.unexplained.push(`GET ${path} of ${api.name} was ${what} after ${span.to - span.from} ms`);
    }
  }

  /**
   * Reports whether a fault explains an answer. A process that is down may not respond; one without its
   * database must respond 503 with Retry-After.
   */
  private isExplained(api: ChaosProcess, { status, retryAfter }: Answer, span: Span): boolean {
    if (status === null) return api.down.some((down) => overlap(down, span));
    return (
      status === 503 &&
      retryAfter !== null &&
      this.stores.databaseAway.some(({ from, to }) => overlap({ from, to: to + RECONNECT_MS }, span))
    );
  }
}

async function get(url: string, apiKey: string): Promise<Answer> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    await response.body?.cancel();
    return { status: response.status, retryAfter: response.headers.get('retry-after'), failure: null };
  } catch (error) {
    return { status: null, retryAfter: null, failure: reasonOf(error) };
  }
}

function overlap(a: Span, b: Span): boolean {
  return a.from <= b.to && b.from <= a.to;
}
