import { ReceiverConnection } from './receiver-connection';
import { ConnectionSetup, Receiver, VettedConnector } from '../../outgoing/vetted-connector';

export interface ConnectionPoolOptions {
  /** Age in milliseconds from which a connection is not reused, so that its host is resolved again. */
  maxAgeMs: number;
  /** Number of open connections above which a connection is closed after its request. */
  maxKept: number;
}

/** Opens connections to receivers, and stores those that can carry another request, by origin. */
export class ConnectionPool {
  /** Kept connections by origin, the one that was used last at the end. */
  private readonly kept = new Map<string, ReceiverConnection[]>();
  private isClosed = false;

  constructor(
    private readonly connector: VettedConnector,
    private readonly options: ConnectionPoolOptions,
  ) {}

  get hasRoom(): boolean {
    return this.connector.openConnections < this.options.maxKept;
  }

  /** Returns the receiver's most recently used connection that is kept, or opens a new one. */
  async connect(receiver: Receiver, setup: ConnectionSetup): Promise<ReceiverConnection> {
    return (await this.takeKept(receiver.origin)) ?? this.open(receiver, setup);
  }

  async open(receiver: Receiver, setup: ConnectionSetup): Promise<ReceiverConnection> {
    const connection = new ReceiverConnection(receiver.origin, await this.connector.open(receiver, setup));
    connection.onClose(() => this.forget(connection));
    return connection;
  }

  /** Keeps a connection for another request for at most `idleMs` milliseconds, or closes it. */
  keep(connection: ReceiverConnection, idleMs: number): void {
    const remainingMs = Math.min(idleMs, this.options.maxAgeMs - connection.ageMs);
    const isOneTooMany = this.connector.openConnections > this.options.maxKept;
    if (this.isClosed || isOneTooMany || remainingMs <= 0 || !connection.isOpen) return connection.destroy();
    connection.waitForNext(Math.ceil(remainingMs));
    const others = this.kept.get(connection.origin);
    if (others) others.push(connection);
    else this.kept.set(connection.origin, [connection]);
  }

  close(): void {
    this.isClosed = true;
    for (const connections of this.kept.values()) for (const one of connections) one.destroy();
  }

  private async takeKept(origin: string): Promise<ReceiverConnection | null> {
    for (;;) {
      const connection = this.kept.get(origin)?.at(-1);
      if (!connection) return null;
      this.forget(connection);
      // The receiver may have closed the connection, which is noticed only when the sockets are polled.
      await lookAtSockets();
      if (connection.isOpen && connection.ageMs < this.options.maxAgeMs) return connection;
      connection.destroy();
    }
  }

  private forget(connection: ReceiverConnection): void {
    const connections = this.kept.get(connection.origin);
    const index = connections?.lastIndexOf(connection) ?? -1;
    if (index < 0) return;
    connections!.splice(index, 1);
    if (connections!.length === 0) this.kept.delete(connection.origin);
  }
}

/** Waits until the event loop has polled all sockets, which it does between two `setImmediate` callbacks. */
function lookAtSockets(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
