import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { HttpLimits } from '../../config/http-settings';
import { Metrics } from '../../metrics/metrics';
import { HeldBytes } from './held-bytes';
import { WaitingRequests } from './waiting-requests';

/** Connections above the limit get a 503 answer, up to this share of it. Further ones get no answer. */
const REFUSED_SHARE = 0.1;

type CloseReason =
  | 'head_timeout'
  | 'body_timeout'
  | 'unread_answer'
  | 'malformed'
  | 'pipelined'
  | 'evicted'
  | 'full';

export interface Connection {
  readonly socket: Socket;
  /** Latest request of the connection. `response` is null once the response has ended. */
  request: Request | null;
  response: Response | null;
  /** Requests that wait for the answer to an earlier request of the connection. */
  readonly pipelined: WaitingRequests;
  kind: 'request' | 'stream' | 'refused' | 'closed';
  /** Request whose route limits the time of its body itself. */
  slowRequest: Request | null;
  isClosing: boolean;
  /** Whether the bytes of the present answer stay in memory, read or not, such as a file's. */
  sendsKept: boolean;
  /** Time (ms) since which a client reads too little, and bytes read at that time; null if all are read. */
  unread: { since: number; readBytes: number } | null;
}

/** Socket of Node's server, with the undocumented field of its parser. */
interface ParsedSocket extends Socket {
  parser?: { onIncoming: () => number } | null;
}

/**
 * Limits the connections of a server. At the limit, a new connection replaces the one that has waited longest
 * for a request of its client. If unread answers or waiting requests take too much memory, the connection
 * that takes the most is closed.
 */
export class OpenConnections {
  private readonly bySocket = new Map<Socket, Connection>();
  /** Connections that wait for a complete request, the longest waiting first. */
  readonly waiting = new Set<Connection>();
  private readonly counts = { request: 0, stream: 0, refused: 0, closed: 0 };
  private readonly pipelinedBytes: HeldBytes<Connection>;
  private readonly unreadBytes: HeldBytes<Connection>;

  constructor(
    private readonly server: Server,
    private readonly limits: HttpLimits,
    private readonly metrics: Metrics,
  ) {
    this.pipelinedBytes = new HeldBytes(limits.maxUnfinishedBytes);
    this.unreadBytes = new HeldBytes(limits.maxUnfinishedBytes);
    this.setHardLimit();
  }

  find(socket: Socket): Connection | undefined {
    return this.bySocket.get(socket);
  }

  list(): Iterable<Connection> {
    return this.bySocket.values();
  }

  add(socket: Socket): void {
    const connection: Connection = {
      socket,
      request: null,
      response: null,
      pipelined: new WaitingRequests(),
      kind: 'request',
      slowRequest: null,
      isClosing: false,
      sendsKept: false,
      unread: null,
    };
    this.bySocket.set(socket, connection);
    socket.once('close', () => {
      this.bySocket.delete(socket);
      this.forget(connection);
    });
    const hasRoom = this.counts.request < this.limits.maxConnections || this.evictOne();
    this.counts[(connection.kind = hasRoom ? 'request' : 'refused')] += 1;
    if (hasRoom) this.waiting.add(connection);
    else this.metrics.httpConnectionsClosed.inc({ reason: 'full' });
    this.report();
  }

  private evictOne(): boolean {
    const [longest] = this.waiting;
    if (!longest) return false;
    this.close(longest, 'evicted');
    return true;
  }

  close(connection: Connection, reason: CloseReason): void {
    this.metrics.httpConnectionsClosed.inc({ reason });
    connection.isClosing = true;
    this.forget(connection);
    // Node's parser is stopped, because it would still make requests of all bytes that it has read.
    const { parser } = connection.socket as ParsedSocket;
    if (parser) parser.onIncoming = () => 0;
    connection.socket.destroy();
  }

  private forget(connection: Connection): void {
    this.waiting.delete(connection);
    this.pipelinedBytes.set(connection, 0);
    this.unreadBytes.set(connection, 0);
    this.setKind(connection, 'closed');
  }

  setKind(connection: Connection, kind: Connection['kind']): void {
    this.counts[connection.kind] -= 1;
    this.counts[(connection.kind = kind)] += 1;
    this.setHardLimit();
    this.report();
  }

  /** Sets the number of connections above which Node closes new ones without an answer. */
  private setHardLimit(): void {
    const hardLimit = Math.ceil(this.limits.maxConnections * (1 + REFUSED_SHARE)) + this.counts.stream;
    this.server.maxConnections = hardLimit;
  }

  private report(): void {
    const { request, stream } = this.counts;
    this.metrics.httpConnections.set({ kind: 'request' }, request);
    this.metrics.httpConnections.set({ kind: 'stream' }, stream);
  }

  measurePipelined(connection: Connection): void {
    this.pipelinedBytes.set(connection, connection.pipelined.bytes);
  }

  /** Counts the unread bytes of a connection, except bytes that stay in memory, read or not. */
  measureUnread(connection: Connection): void {
    const { socket, sendsKept, kind } = connection;
    this.unreadBytes.set(connection, sendsKept || kind === 'closed' ? 0 : socket.writableLength);
  }

  /** Closes the connections with the most bytes until all connections together are within the limit. */
  closeExcessive(reason: 'pipelined' | 'unread_answer'): void {
    const held = reason === 'pipelined' ? this.pipelinedBytes : this.unreadBytes;
    for (let most = held.findExcessive(); most; most = held.findExcessive()) this.close(most, reason);
  }
}
