import { connect, createServer, Server, Socket } from 'node:net';
import { freePort } from '../../scripts/processes.mjs';

/** Moment at which a connection ends: before the node gets a statement, or once it has answered it. */
type When = 'unsent' | 'answered';

interface Strike {
  statement: string;
  when: When;
  onStrike: () => void;
}

/** Proxy before a node of Citus that ends a connection at a chosen statement. */
export class StatementProxy {
  private readonly sockets = new Set<Socket>();
  private strike: Strike | null = null;

  private constructor(
    private readonly server: Server,
    readonly url: URL,
  ) {}

  static async start(target: URL): Promise<StatementProxy> {
    const server = createServer((inner) => proxy.join(inner, connect(Number(target.port), target.hostname)));
    const port = await freePort();
    const proxy = new StatementProxy(server, Object.assign(new URL(target), { port: String(port) }));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return proxy;
  }

  /** Ends the connection of the next statement that contains a text; `onStrike` runs at the same moment. */
  strikeAt(statement: string, when: When, onStrike: () => void = () => undefined): void {
    this.strike = { statement, when, onStrike };
  }

  /** Whether the strike that was asked for is done. */
  get hasStruck(): boolean {
    return this.strike === null;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(inner: Socket, outer: Socket): void {
    let answer: Strike | null = null;
    const end = ({ onStrike }: Strike) => {
      this.strike = null;
      onStrike();
      inner.destroy();
      outer.destroy();
    };
    inner.on('data', (chunk) => {
      const { strike } = this;
      const isMeant = strike !== null && chunk.includes(strike.statement);
      if (isMeant && strike.when === 'unsent') return end(strike);
      if (isMeant) answer = strike;
      outer.write(chunk);
    });
    outer.on('data', (chunk) => (answer ? end(answer) : inner.write(chunk)));
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
