import { once } from 'node:events';
import { AddressInfo, connect, createServer, Server, Socket } from 'node:net';

/** Passes connections on to a server, and can let those that are open fall silent: nothing arrives, nothing closes. */
export class Proxy {
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {
    server.on('connection', (client: Socket) => this.pass(client));
  }

  static async start(targetPort: number): Promise<Proxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Proxy(server, targetPort);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** As when a machine on the way vanishes: those who wait for an answer wait for ever. New connections work. */
  silence(): void {
    for (const socket of this.open) socket.unpipe().removeAllListeners('data').pause();
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.open) socket.destroy();
    await closed;
  }

  private pass(client: Socket): void {
    const target = connect(this.targetPort, '127.0.0.1');
    const pair = [client, target];
    for (const socket of pair) {
      this.open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // it closes next
      socket.once('close', () => {
        for (const one of pair) {
          this.open.delete(one);
          one.destroy();
        }
      });
    }
    client.pipe(target).pipe(client);
  }
}
