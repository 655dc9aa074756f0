import { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, Server } from 'node:https';
import { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Certificate } from './test-ca';
import { forgetStop, stopAtEnd } from './stop-at-end';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
  /** Server name in the TLS handshake. */
  servername: string | null;
  /** Local address and port of the connection, and a number that no other connection has. */
  address: string | undefined;
  connection: number;
}

export type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

const ok: Responder = (response) => {
  response.end('ok');
};

/** A real https receiver on a local port that records requests and gives the answers that the test sets. */
export class HttpsReceiver {
  readonly requests: ReceivedRequest[] = [];
  respond: Responder = ok;
  connections = 0;
  private readonly numbers = new WeakMap<object, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('secureConnection', (socket) => this.numbers.set(socket, ++this.connections));
    // The tests have clients that disconnect during the handshake.
    server.on('tlsClientError', () => undefined);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.receive(request, response);
    });
  }

  static async start(certificate: Certificate, host = '127.0.0.1', port = 0): Promise<HttpsReceiver> {
    const server = createServer({ ...certificate, keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    const receiver = new HttpsReceiver(server);
    return stopAtEnd(receiver, () => receiver.stop());
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get lastRequest(): ReceivedRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error('Nothing was received');
    return request;
  }

  /** Closes all connections. */
  closeConnections(): void {
    this.server.closeAllConnections();
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    // The list includes sockets in their TLS handshake, which the server does not list yet.
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        servername: socket.servername || null,
        address: socket.localAddress,
        connection: this.numbers.get(socket) ?? 0,
      };
      this.requests.push(received);
      this.respond(response, received);
    });
  }
}
