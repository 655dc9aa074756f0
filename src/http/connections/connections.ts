import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { endAndDestroy, hasBody, sendError } from './error-answer';
import { HeldBytes } from './held-bytes';
import { areKept } from './kept-bytes';
import { protocolError, rawAnswer } from './protocol-errors';
import { WaitingRequests } from './waiting-requests';
import { HttpLimits } from '../../config/http-settings';
import { Metrics } from '../../metrics/metrics';

/**
 * Milliseconds between two searches for answers that stay unread, and between Node's searches for late heads
 * and bodies.
 */
const SWEEP_MS = 1_000;
/**
 * Bytes of which a client must read so many in the time for which an answer may stay unread, or all that
 * there are: then a slow download goes on.
 */
const READ_BYTES = 256 * 1024;
/** Number of connections above the cap, as a share of it, that still get a 503 before they are closed. */
const REFUSED_SHARE = 0.1;

/** Reason for which this process ends a connection. */
export type CloseReason =
  | 'head_timeout'
  | 'body_timeout'
  | 'unread_answer'
  | 'malformed'
  | 'pipelined'
  | 'evicted'
  | 'full';

interface Connection {
  readonly socket: Socket;
  /** The latest request, and its response until that has ended. */
  request: Request | null;
  response: Response | null;
  /** Requests that wait for the answer to an earlier one. */
  readonly pipelined: WaitingRequests;
  kind: 'request' | 'stream' | 'refused' | 'closed';
  isClosing: boolean;
  /** Whether the answer that is being sent consists of bytes that this process keeps anyway. */
  sendsKept: boolean;
  /**
   * Time since which the client has not read enough of what this process sends, and the bytes that it had
   * read by then; null while it reads all.
   */
  unread: { since: number; readBytes: number } | null;
}

/**
 * Settings of Node's server that its documentation shows as options only, but that exist as properties too.
 */
interface TunedServer extends Server {
  connectionsCheckingInterval: number;
  requireHostHeader: boolean;
}

/** Socket of Node's server with its parser, which the documentation does not name. */
interface ParsedSocket extends Socket {
  parser?: { onIncoming: () => number } | null;
}

/**
 * Keeps the connections of this process within their number and their times. Node watches heads, bodies and
 * idle connections; this class watches unread answers. At the cap, the connection that has waited longest for
 * its client is closed for a new one, so clients that only hold connections do not keep others out. Event
 * streams are counted separately. When requests that wait behind others, or unread answers, take too many
 * bytes of this process, the connection that takes the most is closed.
 */
@Injectable()
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();
  /** Connections without a complete request, the longest waiting first. */
  private readonly waiting = new Set<Connection>();
  /** Bytes of requests that wait for the answer to an earlier one of their connection. */
  private pipelinedBytes: HeldBytes<Connection>;
  /** Bytes of answers that wait for their clients to read them. */
  private unreadBytes: HeldBytes<Connection>;
  private readonly counts = { request: 0, stream: 0, refused: 0, closed: 0 };
  private server: Server | null = null;
  private limits: HttpLimits;

  constructor(private readonly metrics: Metrics) {}

  /** Watches a server, which must not listen yet. */
  attach(server: Server, limits: HttpLimits): void {
    this.server = server;
    this.limits = limits;
    this.pipelinedBytes = new HeldBytes(limits.maxUnfinishedBytes);
    this.unreadBytes = new HeldBytes(limits.maxUnfinishedBytes);
    this.setTimes(server as TunedServer);
    this.setHardLimit();
    server.on('connection', (socket: Socket) => this.add(socket));
    server.on('drop', () => this.metrics.httpConnectionsClosed.inc({ reason: 'full' }));
    server.on('clientError', (error: Error, socket: Socket) => this.refuse(error, socket));
    // Node would refuse an unknown Expect header. This handler ignores the header.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      server.emit('request', request, response),
    );
    const sweeper = setInterval(() => this.sweep(), SWEEP_MS).unref();
    server.once('close', () => clearInterval(sweeper));
  }

  /**
   * Takes the connection off the waiting list while a request is in progress; a middleware. Pipelined
   * requests are worked on one at a time, in the order of their answers, and few may wait, so a connection
   * costs no more however many requests it sends at once.
   */
  readonly track = (request: Request, response: Response, next: NextFunction): void => {
    const connection = this.bySocket.get(request.socket);
    // A request that follows a malformed one, or one too many, on the same connection is not read.
    if (!connection || connection.isClosing) return void request.socket.destroy();
    const earlier = connection.response;
    if (earlier && !this.mayWait(connection, request)) return;
    connection.request = request;
    connection.response = response;
    // Node has the whole answer, and the system has taken what it can.
    response.once('prefinish', () => this.noteUnread(connection, response));
    response.once('close', () => this.finish(connection, response));
    if (!hasBody(request)) this.waiting.delete(connection);
    else request.once('end', () => connection.response === response && void this.waiting.delete(connection));
    if (!earlier) return this.proceed(connection, response, next);
    earlier.once('close', () => {
      // All that waited is forgotten.
      if (connection.kind === 'closed') return;
      connection.pipelined.leave(request);
      this.pipelinedBytes.set(connection, connection.pipelined.bytes);
      this.proceed(connection, response, next);
    });
  };

  /** Counts a connection as a stream until its end. A request that waits behind it will never be answered. */
  countAsStream(socket: Socket): void {
    const connection = this.bySocket.get(socket);
    if (connection?.kind !== 'request') return;
    if (connection.pipelined.isEmpty) this.become(connection, 'stream');
    else this.close(connection, 'pipelined');
  }

  /**
   * Closes connections that have sent nothing. Node counts them as busy, so a closing server would wait for
   * them.
   */
  closeSilent(): void {
    for (const { socket } of this.waiting) if (socket.bytesRead === 0) socket.destroy();
  }

  private setTimes(server: TunedServer): void {
    const { headTimeoutMs, bodyTimeoutMs, idleTimeoutMs } = this.limits;
    // Node measures both times from the request's first byte.
    server.headersTimeout = headTimeoutMs;
    server.requestTimeout = bodyTimeoutMs;
    server.keepAliveTimeout = idleTimeoutMs;
    server.connectionsCheckingInterval = SWEEP_MS;
    // Node would answer a request without Host with an empty body; `requireHost` answers in the form of every
    // error.
    server.requireHostHeader = false;
  }

  /** Lets a request wait for the answer to an earlier one, unless its connection is closed for that. */
  private mayWait(connection: Connection, request: Request): boolean {
    const { pipelined, kind } = connection;
    pipelined.enter(request);
    this.pipelinedBytes.set(connection, pipelined.bytes);
    if (kind === 'stream' || pipelined.areTooMany) this.close(connection, 'pipelined');
    else this.closeExcessive(this.pipelinedBytes, 'pipelined');
    return !connection.isClosing;
  }

  private noteUnread(connection: Connection, response: Response): void {
    connection.sendsKept = areKept(response);
    this.measureUnread(connection);
    this.closeExcessive(this.unreadBytes, 'unread_answer');
  }

  private measureUnread(connection: Connection): void {
    const { socket, sendsKept, kind } = connection;
    this.unreadBytes.set(connection, sendsKept || kind === 'closed' ? 0 : socket.writableLength);
  }

  private closeExcessive(held: HeldBytes<Connection>, reason: CloseReason): void {
    for (let most = held.findExcessive(); most; most = held.findExcessive()) this.close(most, reason);
  }

  private proceed({ socket, kind }: Connection, response: Response, next: NextFunction): void {
    if (socket.destroyed) return;
    if (kind !== 'refused') return next();
    response.setHeader('Connection', 'close');
    next(new AppError('UNAVAILABLE', 'The process has as many connections as it may. Retry shortly.'));
  }

  private add(socket: Socket): void {
    const connection: Connection = {
      socket,
      request: null,
      response: null,
      pipelined: new WaitingRequests(),
      kind: 'request',
      isClosing: false,
      sendsKept: false,
      unread: null,
    };
    this.bySocket.set(socket, connection);
    socket.once('close', () => this.remove(connection));
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

  private finish(connection: Connection, response: Response): void {
    connection.sendsKept = false;
    this.measureUnread(connection);
    if (connection.response !== response) return;
    connection.response = null;
    // A connection whose request was streamed or refused ends with its response.
    if (connection.kind === 'request') this.waiting.add(connection);
  }

  private remove(connection: Connection): void {
    this.bySocket.delete(connection.socket);
    this.forget(connection);
  }

  private close(connection: Connection, reason: CloseReason): void {
    this.metrics.httpConnectionsClosed.inc({ reason });
    connection.isClosing = true;
    this.forget(connection);
    // Otherwise Node makes requests of all that it has read, and keeps them with the one in progress.
    const { parser } = connection.socket as ParsedSocket;
    if (parser) parser.onIncoming = () => 0;
    connection.socket.destroy();
  }

  private forget(connection: Connection): void {
    this.waiting.delete(connection);
    this.pipelinedBytes.set(connection, 0);
    this.unreadBytes.set(connection, 0);
    this.become(connection, 'closed');
  }

  private become(connection: Connection, kind: Connection['kind']): void {
    this.counts[connection.kind] -= 1;
    this.counts[(connection.kind = kind)] += 1;
    this.setHardLimit();
    this.report();
  }

  /** Sets the number of connections above which Node refuses without an answer. */
  private setHardLimit(): void {
    const hardLimit = Math.ceil(this.limits.maxConnections * (1 + REFUSED_SHARE)) + this.counts.stream;
    if (this.server) this.server.maxConnections = hardLimit;
  }

  private report(): void {
    const { request, stream } = this.counts;
    this.metrics.httpConnections.set({ kind: 'request' }, request);
    this.metrics.httpConnections.set({ kind: 'stream' }, stream);
  }

  /**
   * Answers a request that Node refuses, if the client can still read the answer, and closes the connection.
   */
  private refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.bySocket.get(socket);
    if (!connection || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (connection.isClosing) return;
    connection.isClosing = true;
    const { request, response } = connection;
    const refusal = protocolError(error);
    const isOfBody = request !== null && !request.complete;
    const isLate = refusal.code === 'REQUEST_TIMEOUT';
    this.metrics.httpConnectionsClosed.inc({
      reason: !isLate ? 'malformed' : isOfBody ? 'body_timeout' : 'head_timeout',
    });
    if (isOfBody) {
      // The request may have been answered before its body was complete.
      if (response) sendError(response, refusal);
      else socket.destroy();
      return;
    }
    const answer = () => endAndDestroy(socket, rawAnswer(refusal));
    if (!response) answer();
    else if (connection.kind === 'stream') socket.destroy();
    // The answer to an earlier request goes first.
    else response.once('close', () => (socket.writable ? answer() : socket.destroy()));
  }

  /** Closes connections whose client leaves an answer unread: the answer takes memory until it is read. */
  private sweep(): void {
    const now = Date.now();
    for (const connection of this.bySocket.values()) {
      this.measureUnread(connection);
      const { socket, unread } = connection;
      const readBytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) connection.unread = null;
      else if (unread === null || readBytes - unread.readBytes >= READ_BYTES)
        connection.unread = { since: now, readBytes };
      else if (now - unread.since >= this.limits.bodyTimeoutMs) this.close(connection, 'unread_answer');
    }
    this.closeExcessive(this.unreadBytes, 'unread_answer');
  }
}
