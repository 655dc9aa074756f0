import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { LooseHead } from './loose-head';

/** Bytes of an answer that are stored until its head is read, so that it can be parsed a second time. */
const MAX_UNREAD_BYTES = 128 * 1024;
/** Number of stored chunks at which they are merged, because each chunk needs memory beside its bytes. */
const MAX_UNREAD_CHUNKS = 64;
/**
 * Milliseconds after a request. A connection that closes within them counts as closed for lack of use. A
 * receiver that closes it later may have worked on the request.
 */
const UNUSED_CLOSE_MS = 1_000;

/** Carries one request and answer after another on an open TLS connection to a receiver. */
export class ReceiverConnection {
  private readonly openedAt = performance.now();
  private exchanges = 0;
  private askedAt = 0;
  private stream: ExchangeStream | null = null;
  private looseHead: LooseHead | null = null;
  private unread: Buffer[] = [];
  private unreadBytes = 0;

  constructor(
    readonly origin: string,
    private readonly socket: TLSSocket,
  ) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('end', () => this.stream?.push(null));
    socket.on('error', (error: Error) => this.stream?.destroy(error));
    socket.on('close', () => this.stream?.destroy());
    socket.on('timeout', () => this.destroy());
  }

  get ageMs(): number {
    return performance.now() - this.openedAt;
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && !this.socket.readableEnded && this.socket.writable;
  }

  /**
   * Reports whether a reused connection has received nothing since a request UNUSED_CLOSE_MS ago or less. If
   * it closes now, the receiver may have closed it as unused while the request was on its way.
   */
  get isSilentAgain(): boolean {
    const askedMsAgo = performance.now() - this.askedAt;
    return this.exchanges > 1 && this.unreadBytes === 0 && askedMsAgo < UNUSED_CLOSE_MS;
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  beginExchange(): Duplex {
    this.socket.setTimeout(0);
    this.exchanges += 1;
    this.askedAt = performance.now();
    this.unread = [];
    this.unreadBytes = 0;
    this.stream = new ExchangeStream((chunk) => this.socket.write(chunk));
    return this.stream;
  }

  /**
   * Returns a stream that repeats the present answer from its first byte, with a tidied head. It ignores
   * writes, because the request was sent already. Returns null if too much of the answer has arrived.
   */
  beginAgain(): Duplex | null {
    if (this.unreadBytes > MAX_UNREAD_BYTES) return null;
    this.stream = new ExchangeStream(() => undefined);
    this.looseHead = new LooseHead();
    for (const chunk of this.unread) this.stream.push(this.looseHead.tidy(chunk));
    if (this.socket.readableEnded || this.socket.destroyed) this.stream.push(null);
    return this.stream;
  }

  /** Drops the bytes that `beginAgain` needs, because the head of the answer has been read. */
  forgetHead(): void {
    this.unread = [];
    this.unreadBytes = Infinity;
  }

  /** Ends an exchange whose answer is complete. The connection closes after `idleMs` idle milliseconds. */
  waitForNext(idleMs: number): void {
    this.stream?.destroy();
    this.stream = null;
    this.socket.setTimeout(idleMs);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    // Bytes that arrive without a request would become the answer to the next one, so the connection closes.
    if (!this.stream) return this.destroy();
    if (this.unreadBytes <= MAX_UNREAD_BYTES) {
      if (this.unread.length === MAX_UNREAD_CHUNKS) this.unread = [Buffer.concat(this.unread)];
      this.unread.push(chunk);
      this.unreadBytes += chunk.length;
    }
    this.stream.push(this.looseHead?.tidy(chunk) ?? chunk);
  }
}

/**
 * Passes the bytes of one exchange to Node's HTTP client, which uses this stream as its socket. The
 * connection stays open when the client ends or destroys the stream.
 */
class ExchangeStream extends Duplex {
  constructor(private readonly send: (chunk: Buffer) => void) {
    super();
  }

  override _read(): void {}

  override _writev(writes: { chunk: Buffer }[], done: () => void): void {
    this.send(writes.length === 1 ? writes[0]!.chunk : Buffer.concat(writes.map(({ chunk }) => chunk)));
    done();
  }
}
