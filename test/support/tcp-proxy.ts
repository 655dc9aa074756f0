import { connect, createServer, Server, Socket } from 'node:net';
import { freePort } from '../../scripts/processes.mjs';
import { stopAtEnd } from './stop-at-end';

/** Proxy before a server, which a test can cut or silence like a failing network. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server;
  private frozen = false;

  private constructor(
    private target: URL,
    readonly port: number,
  ) {}

  /**
   * Starts a proxy.
   * @param address of the server behind it, such as `postgresql://user@host:port/name`
   */
  static async start(address: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(address), await freePort());
    await proxy.restore();
    return stopAtEnd(proxy, () => proxy.cut());
  }

  /** Address of the server by way of this proxy. */
  get address(): string {
    return this.reroute(this.target.href);
  }

  /** Number of connections from clients. */
  get connections(): number {
    return [...this.sockets].filter(({ localPort }) => localPort === this.port).length;
  }

  /** Returns another address of the same server by way of this proxy. */
  reroute(address: string): string {
    return Object.assign(new URL(address), { host: `127.0.0.1:${this.port}` }).href;
  }

  /** Ends every connection, and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Silences the open connections, as when a machine on the way vanishes. New connections work. */
  silence(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Silences all connections, new ones too, without closing any. */
  freeze(): void {
    this.frozen = true;
    this.silence();
  }

  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Leads new connections to another server, as when a name's address changes. Open connections stay. */
  switchTo(address: string): void {
    this.target = new URL(address);
  }

  async restore(): Promise<void> {
    this.server = createServer((inner) => this.join(inner));
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  private join(inner: Socket): void {
    const outer = connect(Number(this.target.port), this.target.hostname);
    const ends: [Socket, Socket][] = [
      [inner, outer],
      [outer, inner],
    ];
    for (const [from, to] of ends) {
      this.sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      // An error at one end closes both.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.frozen) from.pause();
    }
  }
}
