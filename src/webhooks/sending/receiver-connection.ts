import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { LooseHead } from './loose-head';

/** Bytes of an answer that are kept until its head is read, so that it can be read a second time. */
const MAX_UNREAD_BYTES = 128 * 1024;
/** Number of pieces in which they are kept: byte by byte, an answer would take 500 times its size. */
const MAX_UNREAD_CHUNKS = 64;
/**
 * Time after its request in which a close is that of an unused connection. A receiver that closes later may
 * have worked on the request.
 */
const UNUSED_CLOSE_MS = 1_000;

/** An open connection to a receiver. It carries one exchange after another. */
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

  /** Reports whether a request can be sent on it. */
  get isOpen(): boolean {
    return !this.socket.destroyed && !this.socket.readableEnded && this.socket.writable;
  }

  /**
   * Reports whether it has answered before, and nothing has come of the present answer, which was asked for
   * just now. The receiver may have closed it as unused while the request was on its way.
   */
  get isSilentAgain(): boolean {
    const askedMsAgo = performance.now() - this.askedAt;
    return this.exchanges > 1 && this.unreadBytes === 0 && askedMsAgo < UNUSED_CLOSE_MS;
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  /** Begins an exchange, and returns its stream. */
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
   * Returns a stream that reads the present answer again, from its first byte and with a tidied head, and
   * writes nothing; null if too much has arrived.
   */
  beginAgain(): Duplex | null {
    if (this.unreadBytes > MAX_UNREAD_BYTES) return null;
    this.stream = new ExchangeStream(() => undefined);
    this.looseHead = new LooseHead();
    for (const chunk of this.unread) this.stream.push(this.looseHead.tidy(chunk));
    if (this.socket.readableEnded || this.socket.destroyed) this.stream.push(null);
    return this.stream;
  }

  /** Forgets the bytes that `beginAgain` needs: the head of the answer is read. */
  forgetHead(): void {
    this.unread = [];
    this.unreadBytes = Infinity;
  }

  /** Ends an exchange whose answer is read to its end, and closes the connection if no other one follows. */
  waitForNext(idleMs: number): void {
    this.stream?.destroy();
    this.stream = null;
    this.socket.setTimeout(idleMs);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    // No request asked for these bytes, so they must not become the answer to the next one.
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
 * One exchange on a connection, as the stream that Node's HTTP client takes for its socket. The client may
 * end and destroy it as it likes: the connection stays.
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
