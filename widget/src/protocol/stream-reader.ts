import { backoffMs } from './backoff';
import { Pause } from './pause';
import { ServerSentEventParser } from './server-sent-events';
import { isRefusal, retryAfterMsOf, type ServiceClient } from './service-client';
import type { ConversationEvent, EndReason, StreamEvent } from './types';
import type { VisitorSession } from '../session/visitor-session';

const SILENCE_MS = 40_000;
/** If the latest event is older than this, `wake` replaces the stream. Heartbeats come every 15 seconds. */
const STALE_MS = 20_000;
/** Time without a first event after which the widget also polls, because a proxy may hold events back. */
const FIRST_EVENT_MS = 10_000;
const STREAM_AGAIN_MS = 180_000;
const POLL_VISIBLE_MS = 5000;
const POLL_HIDDEN_MS = 30_000;
const POLL_LIMIT = 20;
const FAILURES_BEFORE_POLLING = 3;

export type Connection = 'connecting' | 'connected' | 'lost';

interface ReaderEvents {
  onEvent(event: ConversationEvent): void;
  onConnection(connection: Connection): void;
  /** Called when the service refuses this page or visitor. */
  onRefused(error: unknown): void;
}

/** Receives the events of a conversation over a stream, or by polling if the stream brings none. */
export class StreamReader {
  private readonly aborter = new AbortController();
  private readonly pause = new Pause();
  private readonly pollPause = new Pause();
  private stream: AbortController | null = null;
  private lastEventAt = 0;
  private failures = 0;
  private polling: AbortController | null = null;
  /** Whether the latest stream brought no event in 10 s, so that the next one is tried after 3 minutes. */
  private isHeldBack = false;

  constructor(
    private readonly client: ServiceClient,
    private readonly session: VisitorSession,
    private readonly events: ReaderEvents,
  ) {}

  async readEvents(): Promise<void> {
    const { signal } = this.aborter;
    while (!signal.aborted) {
      let mustWaitMs = 0;
      const pauseMs = await this.readStream().catch((error: unknown) => {
        mustWaitMs = retryAfterMsOf(error);
        return this.pauseAfter(error);
      });
      if (pauseMs === null) return this.stop();
      await new Pause().wait(mustWaitMs, signal);
      await this.pause.wait(this.isHeldBack ? STREAM_AGAIN_MS : pauseMs, signal);
    }
  }

  stop(): void {
    this.aborter.abort();
    this.stopPolling();
  }

  /** Ends all waits for a new attempt, because the browser is online again or the page is visible. */
  wake(): void {
    this.pollPause.cut();
    this.pause.cut();
    if (Date.now() - this.lastEventAt > STALE_MS || Date.now() < this.lastEventAt) this.stream?.abort();
  }

  /** Reads one stream to its end. Returns the milliseconds to wait before opening the next one. */
  private async readStream(): Promise<number> {
    const { signal } = this.aborter;
    const stream = (this.stream = new AbortController());
    const abort = () => stream.abort();
    signal.addEventListener('abort', abort, { signal: stream.signal });
    let silence = setTimeout(abort, SILENCE_MS);
    const firstEvent = setTimeout(() => {
      this.isHeldBack = true;
      this.poll();
    }, FIRST_EVENT_MS);
    try {
      const token = await this.session.token();
      const body = await this.session.retried(token, (valid) => this.client.openStream(valid, stream.signal));
      for await (const event of eventsOf(body)) {
        clearTimeout(firstEvent);
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE_MS);
        this.lastEventAt = Date.now();
        if (event.type === 'end') return this.pauseAfterEnd(event.reason, token);
        this.failures = 0;
        this.isHeldBack = false;
        this.stopPolling();
        this.events.onConnection('connected');
        this.events.onEvent(event);
      }
      return backoffMs(++this.failures);
    } finally {
      clearTimeout(firstEvent);
      clearTimeout(silence);
      stream.abort();
    }
  }

  private pauseAfterEnd(reason: EndReason, token: string): number {
    if (reason === 'token_expired') this.session.reject(token);
    return reason === 'server_stopping' ? 1000 + 4000 * Math.random() : 1000 * Math.random();
  }

  /** Returns the milliseconds to wait after a failure; null if this reader has to stop. */
  private pauseAfter(error: unknown): number | null {
    if (this.aborter.signal.aborted) return null;
    this.failures += 1;
    if (isRefusal(error)) {
      this.events.onRefused(error);
      return null;
    }
    // While this tab polls, the result of each poll decides whether the connection is shown as lost.
    if (this.failures > 1 && !this.polling) this.events.onConnection('lost');
    if (this.failures >= FAILURES_BEFORE_POLLING) this.poll();
    return backoffMs(this.failures);
  }

  private poll(): void {
    if (this.polling || this.aborter.signal.aborted) return;
    const { signal } = (this.polling = new AbortController());
    void (async () => {
      for (let failures = 0; !signal.aborted;) {
        try {
          const page = await this.session.readMessages(POLL_LIMIT);
          if (signal.aborted) return;
          failures = 0;
          this.events.onConnection('connected');
          this.events.onEvent({ type: 'page', page });
        } catch (error) {
          if (isRefusal(error) || signal.aborted) return;
          failures += 1;
          // Polling fails too, so the service is down, and no proxy holds the stream's events back.
          this.isHeldBack = false;
          this.events.onConnection('lost');
        }
        const everyMs = document.visibilityState === 'visible' ? POLL_VISIBLE_MS : POLL_HIDDEN_MS;
        await this.pollPause.wait(failures ? Math.max(everyMs, backoffMs(failures)) : everyMs, signal);
      }
    })();
  }

  private stopPolling(): void {
    this.polling?.abort();
    this.polling = null;
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const parser = new ServerSentEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { event, data } of parser.feed(decoder.decode(value, { stream: true })))
      yield { type: event, ...(JSON.parse(data) as object) } as StreamEvent;
  }
}
