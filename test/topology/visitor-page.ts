import { StreamEvent, TestStream } from '../support/test-stream';
import { TestVisitor } from '../support/widget';
import { waitFor } from '../support/wait';
import { RetryingCaller } from './retrying-caller';

/** Silence after which a stream counts as dead: heartbeats come every 15 seconds. */
const SILENCE_MS = 40_000;
const PAGE = 50;

interface Page {
  data: { id: string; body: string }[];
  nextCursor: string | null;
}

/**
 * A visitor's page as docs/reference/widget-protocol.md describes it: it connects again when its stream ends,
 * and reads what it missed.
 */
export class VisitorPage {
  /** The bodies of the conversation's messages, by id. */
  readonly messages = new Map<string, string>();
  /** Ends of the streams of the page. */
  readonly ends: string[] = [];
  /** Sequence up to which the page has everything, and the messages until then. */
  private sequence = 0;
  private readonly complete = new Set<string>();
  private stream: TestStream | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly visitor: TestVisitor,
    private readonly caller: RetryingCaller,
  ) {}

  start(): void {
    this.running = this.run();
    this.running.catch(() => undefined); // stop() reports it
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stream?.close();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const opened = await this.caller.call('the stream', async () => {
        const stream = await this.visitor.stream();
        return { status: stream.response.status, stream };
      });
      if (opened) await this.follow(opened.stream);
    }
  }

  private async follow(stream: TestStream): Promise<void> {
    this.stream = stream;
    for (let read = 0; ;) {
      await waitFor(
        'an event of the stream',
        () => stream.events.length > read || stream.hasEnded,
        SILENCE_MS,
      ).catch(() => stream.close());
      const event = stream.events[read++];
      if (!event) break;
      await this.handle(event);
    }
    const last = stream.events.at(-1);
    this.ends.push(last?.event === 'end' ? (last.data.reason as string) : (last?.event ?? 'no event'));
  }

  private async handle({ event, data }: StreamEvent): Promise<void> {
    if (event !== 'ready' && event !== 'heartbeat' && event !== 'message') return;
    const { sequence, message } = data as { sequence: number; message?: { id: string; body: string } };
    const isNext = message && !this.messages.has(message.id) && sequence === this.sequence + 1;
    if (message) this.messages.set(message.id, message.body);
    if (sequence <= this.sequence) return;
    if (!isNext && !(await this.readMissed())) return;
    this.sequence = sequence;
    for (const id of this.messages.keys()) this.complete.add(id);
  }

  /**
   * Reads back to a message that the page had at its sequence: before later messages, some may be missing.
   */
  private async readMissed(): Promise<boolean> {
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = `?limit=${PAGE}${cursor && `&cursor=${cursor}`}`;
      const page = await this.caller.call('the history', () => this.visitor.history(query));
      if (!page) return false;
      const { data, nextCursor } = page.body as Page;
      for (const { id, body } of data) this.messages.set(id, body);
      cursor = data.some(({ id }) => this.complete.has(id)) ? null : nextCursor;
    }
    return true;
  }
}
