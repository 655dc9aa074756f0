import { once } from 'node:events';
import { createConnection, Socket } from 'node:net';
import { letTimePass } from './wait';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: any;
}

/** A connection that sends any bytes, even such as no HTTP client would send. */
export class RawConnection {
  private received = '';
  /** Resolves when the connection is closed: to null, or to the error of a reset. */
  readonly closed: Promise<NodeJS.ErrnoException | null>;

  private constructor(private readonly socket: Socket) {
    let failure: NodeJS.ErrnoException | null = null;
    socket.on('error', (error) => (failure = error));
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.closed = new Promise((resolve) => socket.once('close', () => resolve(failure)));
  }

  /**
   * Connects.
   * @param allowHalfOpen the client does not close its side when the server closes its own
   */
  static async open(baseUrl: string, { allowHalfOpen = false } = {}): Promise<RawConnection> {
    const { port, hostname: host } = new URL(baseUrl);
    const socket = createConnection({ port: Number(port), host, allowHalfOpen });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  send(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Sends one byte after another, until the server closes the connection. */
  async drip(byte: string, everyMs: number): Promise<void> {
    while (!this.socket.destroyed && this.socket.writable) {
      this.socket.write(byte);
      await letTimePass(everyMs);
    }
  }

  /** Reads about so many bytes a second, for a while. */
  async readSlowly(bytesPerSecond: number, forMs: number): Promise<void> {
    const startedAt = performance.now();
    for (let elapsed = 0; elapsed < forMs && !this.isClosed; elapsed = performance.now() - startedAt) {
      if (this.socket.bytesRead < (bytesPerSecond * elapsed) / 1_000) this.socket.resume();
      else this.socket.pause();
      await letTimePass(10);
    }
  }

  /** Closes the client's side only. */
  halfClose(): void {
    this.socket.end();
  }

  /** Stops reading. */
  stopReading(): void {
    this.socket.pause();
  }

  destroy(): void {
    this.socket.destroy();
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Returns all that has been received, a character for each byte. */
  get text(): string {
    return this.received;
  }

  /** Returns the complete answers so far. */
  answers(): RawAnswer[] {
    const found: RawAnswer[] = [];
    for (let rest = this.received; ;) {
      const headEnd = rest.indexOf('\r\n\r\n');
      if (headEnd < 0) return found;
      const [statusLine, ...lines] = rest.slice(0, headEnd).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      );
      const length = Number(headers['content-length'] ?? 0);
      const body = rest.slice(headEnd + 4, headEnd + 4 + length);
      if (body.length < length) return found;
      const isJson = headers['content-type']?.startsWith('application/json') ?? false;
      found.push({
        status: Number(statusLine!.split(' ')[1]),
        headers,
        body: isJson ? JSON.parse(Buffer.from(body, 'latin1').toString()) : body,
      });
      rest = rest.slice(headEnd + 4 + length);
    }
  }
}
