import type { Request } from 'express';
import { hasBody } from './error-answer';

/** Limit of the requests of one connection that wait for the answer to an earlier request. */
const MAX_WAITING = 32;
/** Bytes of memory that a waiting request takes besides its head and body: 3.8 KB were measured. */
const REQUEST_BYTES = 4_096;
/** Most bytes of a body that Node reads in advance: a full stream buffer, and one read of the socket. */
const MAX_BUFFERED = 128 * 1024;

/** Counts a connection's pipelined requests: those that wait for the answer to an earlier request. */
export class WaitingRequests {
  private readonly sizes = new Map<Request, number>();
  /** Estimated bytes of memory that the requests take. */
  bytes = 0;

  get areTooMany(): boolean {
    return this.sizes.size > MAX_WAITING;
  }

  get isEmpty(): boolean {
    return this.sizes.size === 0;
  }

  enter(request: Request): void {
    const size = sizeOf(request);
    this.sizes.set(request, size);
    this.bytes += size;
  }

  leave(request: Request): void {
    this.bytes -= this.sizes.get(request)!;
    this.sizes.delete(request);
  }
}

function sizeOf(request: Request): number {
  const { rawHeaders, url, headers } = request;
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  // A body that is sent in chunks has no Content-Length, so its size is taken to be the limit.
  const body = hasBody(request) ? Math.min(Number(headers['content-length'] ?? Infinity), MAX_BUFFERED) : 0;
  return REQUEST_BYTES + head + body;
}
