import type { Socket } from 'node:net';
import type { Response } from 'express';

/** A client with more unread is cut off. When it is back, it reads the history. */
const MAX_UNREAD_BYTES = 64 * 1024;

export type EndReason = 'token_expired' | 'widget_changed' | 'server_stopping';

/** The server-sent events of one client. */
export class EventStream {
  private readonly endCallbacks: (() => void)[] = [];
  private begun = false;

  constructor(private readonly response: Response) {
    response.once('close', () => this.endCallbacks.forEach((callback) => callback()));
  }

  get isOpen(): boolean {
    return this.begun && !this.response.writableEnded && !this.response.destroyed;
  }

  /** Calls back when the stream has ended, or at once if it has ended already. */
  onEnd(callback: () => void): void {
    if (this.response.closed) callback();
    else this.endCallbacks.push(callback);
  }

  get socket(): Socket {
    return this.response.req.socket;
  }

  /** For a refusal. */
  retryAfter(seconds: number): void {
    this.response.setHeader('Retry-After', seconds);
  }

  begin(): void {
    this.begun = true;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Otherwise nginx buffers events.
      'X-Accel-Buffering': 'no',
    });
  }

  /** @param id the conversation's sequence */
  send(event: string, id: number, data: object): void {
    if (!this.isOpen) return;
    this.response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
    if (this.response.writableLength > MAX_UNREAD_BYTES) this.response.destroy();
  }

  end(reason: EndReason): void {
    if (this.isOpen) this.response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    else this.response.destroy();
  }
}
