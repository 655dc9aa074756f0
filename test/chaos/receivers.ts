import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, Server } from 'node:https';
import { AddressInfo, Socket } from 'node:net';
import { answering, Behaviour, failing, slow } from './behaviours';
import { Ledger } from './ledger';
import { Random } from './random';

export interface TlsFiles {
  cert: string;
  key: string;
}

/** Always healthy: every message must reach them soon. */
export const STEADY = ['steady', 'slow'] as const;
/** Struck by faults, directly or through the name server. */
export const STRUCK = ['troubled', 'named'] as const;
export type ReceiverName = (typeof STEADY | typeof STRUCK)[number] | 'hopeless';

/** Resolved by the suite's name server. */
export const NAMED_HOST = 'receiver.test';

export class Receiver {
  private behaviour: Behaviour;
  private readonly connections = new Map<number, Socket>();
  private readonly used = new WeakSet<Socket>();
  private server!: Server;
  private port = 0;

  private constructor(
    readonly name: ReceiverName,
    private readonly usual: Behaviour,
    private readonly files: TlsFiles,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    this.behaviour = usual;
  }

  static async start(name: ReceiverName, files: TlsFiles, ledger: Ledger, random: Random): Promise<Receiver> {
    const receiver = new Receiver(name, usualOf(name), files, ledger, random);
    await receiver.listen();
    return receiver;
  }

  get url(): string {
    return `https://${this.name === 'named' ? NAMED_HOST : '127.0.0.1'}:${this.port}/hook`;
  }

  behave(behaviour: Behaviour): void {
    this.behaviour = behaviour;
  }

  /** Restores the usual behaviour. Hanging requests still hang until their sender times out. */
  heal(): void {
    this.behaviour = this.usual;
  }

  /** Healthy from now on, even if its usual behaviour is not. */
  cure(): void {
    this.behaviour = answering;
  }

  closeConnections(): void {
    this.server.closeAllConnections();
    for (const connection of this.connections.values()) connection.destroy();
  }

  /** Reuses the previous port. */
  async listen(): Promise<void> {
    this.server = createServer(this.files, (request, response) => this.receive(request, response));
    this.server.keepAliveTimeout = 60_000;
    // Faults cause these on purpose.
    this.server.on('tlsClientError', () => undefined);
    this.server.on('connection', (connection: Socket) => this.track(connection));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses connections from now on. */
  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.closeConnections();
    await closed;
  }

  private track(connection: Socket): void {
    const port = connection.remotePort ?? 0;
    this.connections.set(port, connection);
    connection.on('error', () => undefined);
    connection.once('close', () => this.connections.delete(port));
    this.behaviour.connect?.(connection, this.random);
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.connections.get(request.socket.remotePort ?? 0);
    const chunks: Buffer[] = [];
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (!connection) return void request.socket.destroy();
      const isReused = this.used.has(connection);
      this.used.add(connection);
      const arrival = {
        receiver: this.name,
        deliveryId: String(request.headers['x-service-delivery']),
        messageId: JSON.parse(Buffer.concat(chunks).toString()).data.message.id as string,
      };
      this.ledger.arrive(arrival);
      const accept = () => this.ledger.accept(arrival);
      void this.behaviour.answer({ request, response, connection, isReused, random: this.random, accept });
    });
  }
}

function usualOf(name: ReceiverName): Behaviour {
  if (name === 'hopeless') return failing;
  return name === 'slow' ? slow : answering;
}
