import type { Socket } from 'node:net';
import type { Response } from 'express';

/** Unread bytes above which a client is disconnected. Other routes return the events that it misses. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Sends server-sent events to one client. `EventStreams` creates it. */
export class EventStream {
  private readonly endCallbacks: (() => void)[] = [];
  private begun = false;
  /** Whether the stream may be closed to make room for a new stream. */
  mayGiveWay = false;

  constructor(private readonly response: Response) {
    response.once('close', () => this.endCallbacks.forEach((callback) => callback()));
  }

  get isOpen(): boolean {
    return this.begun && !this.response.writableEnded && !this.response.destroyed;
  }

  get socket(): Socket {
    return this.response.req.socket;
  }

  /** Calls back when the stream has ended, or at once if it has ended already. */
  onEnd(callback: () => void): void {
    if (this.response.closed) callback();
    else this.endCallbacks.push(callback);
  }

  /** Sends the head of the answer. Before this call, the route can answer with an error instead. */
  begin(): void {
    this.begun = true;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Without this header, nginx would buffer events.
      'X-Accel-Buffering': 'no',
    });
  }

  /** Sends an event if the stream is open. A browser sends the last `id` when it reconnects. */
  send(event: string, id: number, data: object): void {
    if (!this.isOpen) return;
    this.response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
    if (this.response.writableLength > MAX_UNREAD_BYTES) this.response.destroy();
  }

  /** Closes the connection without the event `end`. */
  cut(): void {
    this.response.destroy();
  }

  /** Sends the event `end` with the reason, and closes the connection. */
  end(reason: string): void {
    if (this.isOpen) this.response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    else this.response.destroy();
  }
}
