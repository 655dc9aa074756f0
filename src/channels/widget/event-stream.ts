import type { Response } from 'express';

/** A client that leaves more than this unread is not reading. It finds everything in the history when it is back. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Why a stream ends, as its client is told. */
export type EndReason = 'token_expired' | 'widget_changed' | 'server_stopping';

/** One client's server-sent events. */
export class EventStream {
  private readonly ending: (() => void)[] = [];
  private begun = false;

  constructor(private readonly response: Response) {
    response.once('close', () => this.ending.forEach((callback) => callback()));
  }

  /** Whether it takes events: not before its first one, and not once it has ended. */
  get isOpen(): boolean {
    return this.begun && !this.response.writableEnded && !this.response.destroyed;
  }

  /** Calls back once the stream is over, at once if its client has hung up already. */
  onEnd(callback: () => void): void {
    if (this.response.closed) callback();
    else this.ending.push(callback);
  }

  /** For an answer that refuses the stream. */
  retryAfter(seconds: number): void {
    this.response.setHeader('Retry-After', seconds);
  }

  begin(): void {
    this.begun = true;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx would otherwise collect events before it passes them on.
      'X-Accel-Buffering': 'no',
    });
  }

  /** @param id what the client has seen up to now, as it can tell when it comes back */
  send(event: string, id: number, data: object): void {
    if (!this.isOpen) return;
    this.response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
    if (this.response.writableLength > MAX_UNREAD_BYTES) this.response.destroy();
  }

  /** Says why, if there is a client to say it to. */
  end(reason: EndReason): void {
    if (this.isOpen) this.response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    else this.response.destroy();
  }
}
