import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, Server } from 'node:https';
import { AddressInfo, createServer as createTcpServer, Server as TcpServer, Socket } from 'node:net';
import { answering, Behaviour, failing, slow } from './behaviours';
import { Arrival } from './ledger';
import { Random } from './random';

export interface TlsFiles {
  cert: string;
  key: string;
}

/** Receivers that are always healthy: every message must reach them soon. */
export const STEADY = ['steady', 'slow'] as const;
/** Receivers that faults strike, directly or through the name server. */
export const STRUCK = ['troubled', 'named'] as const;
export type ReceiverName = (typeof STEADY | typeof STRUCK)[number] | 'hopeless';

/** Host name that the suite's name server resolves. */
export const NAMED_HOST = 'receiver.test';

/** Record of what arrives at a receiver. */
export interface Book {
  arrive(arrival: Arrival): void;
  accept(arrival: Arrival): void;
}

export interface ReceiverOptions {
  files: TlsFiles;
  book: Book;
  random: Random;
  usual: Behaviour;
  /** Host of the receiver; its address by default. */
  host?: string;
}

export class ChaosReceiver {
  private behaviour: Behaviour;
  private readonly connections = new Map<number, Socket>();
  private readonly used = new WeakSet<Socket>();
  private server!: Server;
  /** Accepts connections for `server`, whose TLS handshakes may have to wait. */
  private front!: TcpServer;
  private port = 0;

  private constructor(private readonly options: ReceiverOptions) {
    this.behaviour = options.usual;
  }

  static async start(options: ReceiverOptions): Promise<ChaosReceiver> {
    const receiver = new ChaosReceiver(options);
    await receiver.listen();
    return receiver;
  }

  /**
   * Returns a receiver's URL.
   * @param name of the receiver in the book
   */
  urlOf(name: string): string {
    return `https://${this.options.host ?? '127.0.0.1'}:${this.port}/${name}`;
  }

  behave(behaviour: Behaviour): void {
    this.behaviour = behaviour;
  }

  /** Restores the usual behaviour. Hanging requests still hang until their sender times out. */
  heal(): void {
    this.behaviour = this.options.usual;
  }

  /** Makes the receiver healthy from now on, even if its usual behaviour is not. */
  cure(): void {
    this.behaviour = answering;
  }

  closeConnections(): void {
    this.server.closeAllConnections();
    for (const connection of this.connections.values()) connection.destroy();
  }

  /** Listens, on the same port as before if it was stopped. */
  async listen(): Promise<void> {
    this.server = createServer(this.options.files, (request, response) => this.receive(request, response));
    this.server.keepAliveTimeout = 60_000;
    // Faults cause these errors on purpose.
    this.server.on('tlsClientError', () => undefined);
    this.front = createTcpServer((connection) => void this.accept(connection));
    this.front.listen(this.port, '127.0.0.1');
    await once(this.front, 'listening');
    this.port = (this.front.address() as AddressInfo).port;
  }

  /** Refuses connections from now on. */
  async stop(): Promise<void> {
    const closed = once(this.front, 'close');
    this.front.close();
    this.closeConnections();
    await closed;
  }

  private async accept(connection: Socket): Promise<void> {
    const { server } = this;
    const port = connection.remotePort ?? 0;
    this.connections.set(port, connection);
    connection.on('error', () => undefined);
    connection.once('close', () => this.connections.delete(port));
    await this.behaviour.connect?.(connection, this.options.random);
    if (!connection.destroyed) server.emit('connection', connection);
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
        receiver: request.url!.slice(1),
        deliveryId: String(request.headers['x-service-delivery']),
        messageId: JSON.parse(Buffer.concat(chunks).toString()).data.message.id as string,
      };
      const { book, random } = this.options;
      book.arrive(arrival);
      const accept = () => book.accept(arrival);
      void this.behaviour.answer({ request, response, connection, isReused, random, accept });
    });
  }
}

export function usualOf(name: ReceiverName): Behaviour {
  if (name === 'hopeless') return failing;
  return name === 'slow' ? slow : answering;
}

export function hostOf(name: ReceiverName): string {
  return name === 'named' ? NAMED_HOST : '127.0.0.1';
}
