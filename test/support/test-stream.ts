import { waitFor } from './wait';

export interface StreamEvent {
  event: string;
  id: string | null;
  data: any;
}

/** Reads server-sent events as a page does. It uses fetch, because EventSource sends no header. */
export class TestStream {
  readonly events: StreamEvent[] = [];
  hasEnded = false;

  private constructor(
    readonly response: Response,
    private readonly aborter: AbortController,
  ) {
    void this.read();
  }

  static async open(url: string, headers: Record<string, string>): Promise<TestStream> {
    const aborter = new AbortController();
    return new TestStream(await fetch(url, { headers, signal: aborter.signal }), aborter);
  }

  listEvents(event: string): StreamEvent[] {
    return this.events.filter((candidate) => candidate.event === event);
  }

  /** Waits for the n-th event of a kind. */
  next(event: string, n = 1, timeoutMs?: number): Promise<StreamEvent> {
    return waitFor(`${event} ${n}`, () => this.listEvents(event)[n - 1], timeoutMs);
  }

  async ended(): Promise<void> {
    await waitFor('the end of a stream', () => this.hasEnded);
  }

  close(): void {
    this.aborter.abort();
  }

  private async read(): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of this.response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        this.events.push(...blocks.map(parse));
      }
    } catch (error) {
      if (!this.aborter.signal.aborted) this.events.push({ event: 'broken', id: null, data: String(error) });
    }
    this.hasEnded = true;
  }
}

function parse(block: string): StreamEvent {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  return { event: fields.get('event')!, id: fields.get('id') ?? null, data: JSON.parse(fields.get('data')!) };
}
