import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { endAndDestroy, hasBody, sendError } from './error-answer';
import { areKept } from './kept-bytes';
import { protocolError, rawAnswer } from './protocol-errors';
import { Connection, OpenConnections } from './open-connections';
import { HttpLimits } from '../../config/http-settings';
import { Metrics } from '../../metrics/metrics';

/**
 * Milliseconds between two searches for answers that stay unread, and between Node's searches for late heads
 * and bodies.
 */
const SWEEP_MS = 1_000;
/**
 * Bytes that a slow client must read within the time for which an answer may stay unread. Fewer are enough if
 * they are the rest of the answer.
 */
const READ_BYTES = 256 * 1024;

/**
 * Settings of Node's server that its documentation shows as options only, but that exist as properties too.
 */
interface TunedServer extends Server {
  connectionsCheckingInterval: number;
  requireHostHeader: boolean;
}

/**
 * Keeps the connections of this process within their number and their times. Node watches heads, bodies and
 * idle connections; this class watches unread answers and requests that wait behind others. Clients that only
 * hold connections do not keep others out. Event streams are counted separately.
 */
@Injectable()
export class Connections {
  /** Connections of the watched server; null before `attach`. */
  private open: OpenConnections | null = null;
  private limits: HttpLimits;

  constructor(private readonly metrics: Metrics) {}

  /** Watches a server, which must not listen yet. */
  attach(server: Server, limits: HttpLimits): void {
    const open = new OpenConnections(server, limits, this.metrics);
    this.open = open;
    this.limits = limits;
    this.setTimes(server as TunedServer);
    server.on('connection', (socket: Socket) => open.add(socket));
    server.on('drop', () => this.metrics.httpConnectionsClosed.inc({ reason: 'full' }));
    server.on('clientError', (error: Error, socket: Socket) => this.refuse(error, open.find(socket), socket));
    // Node would refuse an unknown Expect header. This handler ignores the header.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      server.emit('request', request, response),
    );
    const sweeper = setInterval(() => this.sweep(open), SWEEP_MS).unref();
    server.once('close', () => clearInterval(sweeper));
  }

  /**
   * Takes the connection off the waiting list while a request is in progress; a middleware. Pipelined
   * requests are worked on one at a time, in the order of their answers, and few may wait. So a connection
   * costs no more if it sends many requests at once.
   */
  readonly track = (request: Request, response: Response, next: NextFunction): void => {
    const open = this.open!;
    const connection = open.find(request.socket);
    // A request that follows a malformed one, or one too many, on the same connection is not read.
    if (!connection || connection.isClosing) return void request.socket.destroy();
    const earlier = connection.response;
    if (earlier && !this.mayWait(open, connection, request)) return;
    connection.request = request;
    connection.response = response;
    // Node has the whole answer, and the system has taken as much of it as it can.
    response.once('prefinish', () => this.noteUnread(open, connection, response));
    response.once('close', () => this.finish(open, connection, response));
    if (!hasBody(request)) open.waiting.delete(connection);
    else request.once('end', () => connection.response === response && void open.waiting.delete(connection));
    if (!earlier) return this.proceed(connection, response, next);
    earlier.once('close', () => {
      // The bytes of a closed connection are no longer counted.
      if (connection.kind === 'closed') return;
      connection.pipelined.leave(request);
      open.measurePipelined(connection);
      this.proceed(connection, response, next);
    });
  };

  /** Counts a connection as a stream until its end. A request that waits behind it will never be answered. */
  countAsStream(socket: Socket): void {
    const connection = this.open?.find(socket);
    if (connection?.kind !== 'request') return;
    if (connection.pipelined.isEmpty) this.open!.setKind(connection, 'stream');
    else this.open!.close(connection, 'pipelined');
  }

  /**
   * Closes connections that have sent nothing. Node counts them as busy, so a closing server would wait for
   * them.
   */
  closeSilent(): void {
    for (const { socket } of this.open?.waiting ?? []) if (socket.bytesRead === 0) socket.destroy();
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
  private mayWait(open: OpenConnections, connection: Connection, request: Request): boolean {
    const { pipelined, kind } = connection;
    pipelined.enter(request);
    open.measurePipelined(connection);
    if (kind === 'stream' || pipelined.areTooMany) open.close(connection, 'pipelined');
    else open.closeExcessive('pipelined');
    return !connection.isClosing;
  }

  private noteUnread(open: OpenConnections, connection: Connection, response: Response): void {
    connection.sendsKept = areKept(response);
    open.measureUnread(connection);
    open.closeExcessive('unread_answer');
  }

  private proceed({ socket, kind }: Connection, response: Response, next: NextFunction): void {
    if (socket.destroyed) return;
    if (kind !== 'refused') return next();
    response.setHeader('Connection', 'close');
    next(new AppError('UNAVAILABLE', 'The process has as many connections as it may. Retry shortly.'));
  }

  private finish(open: OpenConnections, connection: Connection, response: Response): void {
    connection.sendsKept = false;
    open.measureUnread(connection);
    if (connection.response !== response) return;
    connection.response = null;
    // A connection whose request was streamed or refused ends with its response.
    if (connection.kind === 'request') open.waiting.add(connection);
  }

  /**
   * Answers a request that Node refuses, if the client can still read the answer, and closes the connection.
   */
  private refuse(error: NodeJS.ErrnoException, connection: Connection | undefined, socket: Socket): void {
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
  private sweep(open: OpenConnections): void {
    const now = Date.now();
    for (const connection of open.list()) {
      open.measureUnread(connection);
      const { socket, unread } = connection;
      const readBytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) connection.unread = null;
      else if (unread === null || readBytes - unread.readBytes >= READ_BYTES)
        connection.unread = { since: now, readBytes };
      else if (now - unread.since >= this.limits.bodyTimeoutMs) open.close(connection, 'unread_answer');
    }
    open.closeExcessive('unread_answer');
  }
}
