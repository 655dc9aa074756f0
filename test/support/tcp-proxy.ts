import { AddressInfo, connect, createServer, Server, Socket } from 'node:net';

/** A proxy before a server, which a test can cut or silence, as a failing network would. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server;
  private frozen = false;

  private constructor(
    private target: URL,
    readonly port: number,
  ) {}

  /** @param address of the server behind it, such as `postgresql://user@host:port/name` */
  static async start(address: string): Promise<TcpProxy> {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const proxy = new TcpProxy(new URL(address), port);
    await proxy.restore();
    return proxy;
  }

  /** Address of the server by way of this proxy. */
  get address(): string {
    return this.to(this.target.href);
  }

  /** Returns another address of the same server by way of this proxy. */
  to(address: string): string {
    return Object.assign(new URL(address), { host: `127.0.0.1:${this.port}` }).href;
  }

  /** Ends every connection, and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /**
   * Nothing arrives on the open connections any more, as when a machine on the way vanishes. New ones work.
   */
  silence(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Lets nothing through any more, on new connections too, and closes none. */
  freeze(): void {
    this.frozen = true;
    this.silence();
  }

  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** New connections go to another server from now on, as when a name's address changes. Open ones stay. */
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
      // One end's fault or goodbye is the other's: both go.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.frozen) from.pause();
    }
  }
}
