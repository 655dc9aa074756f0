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

/** Milliseconds between two checks for unread answers, and between Node's checks for late requests. */
const SWEEP_MS = 1_000;
/** Bytes of an answer that a client must read within `bodyTimeoutMs`, or all bytes if fewer are left. */
const READ_BYTES = 256 * 1024;

/** Settings of Node's server that Node documents as options only. They exist as properties too. */
interface TunedServer extends Server {
  connectionsCheckingInterval: number;
  requireHostHeader: boolean;
}

/**
 * Limits the connections of this process, and the time that clients may take. Node checks heads, bodies and
 * idle connections. This class checks unread answers, and pipelined requests: those sent before an earlier
 * one is answered. Clients that only occupy connections can't keep others out. Streams have their own limit.
 */
@Injectable()
export class Connections {
  /** Connections of the server; null before `attach`. */
  private open: OpenConnections | null = null;
  private limits: HttpLimits;

  constructor(private readonly metrics: Metrics) {}

  /** Limits the connections of a server, which must not listen yet. */
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
   * Middleware that tracks the requests of each connection. While a request is in progress, its connection is
   * not closed to make room for a new one. Requests that arrive before an earlier one is answered wait for
   * this answer, and only a few may wait.
   */
  readonly track = (request: Request, response: Response, next: NextFunction): void => {
    const open = this.open!;
    const connection = open.find(request.socket);
    // A connection that is being closed, such as after a malformed request, serves no more requests.
    if (!connection || connection.isClosing) return void request.socket.destroy();
    const earlier = connection.response;
    if (earlier && !this.mayWait(open, connection, request)) return;
    connection.request = request;
    connection.response = response;
    // Unread bytes are counted at this event, because Node has then sent as much of the answer as it can.
    response.once('prefinish', () => this.noteUnread(open, connection, response));
    response.once('close', () => this.finish(open, connection, response));
    if (!hasBody(request)) open.waiting.delete(connection);
    else request.once('end', () => connection.response === response && void open.waiting.delete(connection));
    if (!earlier) return this.proceed(connection, response, next);
    earlier.once('close', () => {
      // Nothing is left to count for a closed connection, because its bytes were subtracted when it closed.
      if (connection.kind === 'closed') return;
      connection.pipelined.leave(request);
      open.measurePipelined(connection);
      this.proceed(connection, response, next);
    });
  };

  /**
   * Counts a connection as a stream until it ends. If further requests wait on it, the connection is closed
   * instead, because they would never be answered.
   */
  countAsStream(socket: Socket): void {
    const connection = this.open?.find(socket);
    if (connection?.kind !== 'request') return;
    if (connection.pipelined.isEmpty) this.open!.setKind(connection, 'stream');
    else this.open!.close(connection, 'pipelined');
  }

  /**
   * Lets the body of a request take longer than `bodyTimeoutMs`. Its route limits the time. Does nothing once
   * another request has arrived on the connection, because the body is then complete.
   */
  letTakeTime(request: Request): void {
    const connection = this.open?.find(request.socket);
    if (connection?.request !== request) return;
    connection.slowRequest = request;
    this.open!.waiting.delete(connection);
  }

  /** Closes connections that have sent nothing, because Node's `close` would wait for them. */
  closeSilent(): void {
    for (const { socket } of this.open?.waiting ?? []) if (socket.bytesRead === 0) socket.destroy();
  }

  private setTimes(server: TunedServer): void {
    const { headTimeoutMs, bodyTimeoutMs, idleTimeoutMs } = this.limits;
    // Node measures the timeouts of head and body from the request's first byte.
    server.headersTimeout = headTimeoutMs;
    server.requestTimeout = bodyTimeoutMs;
    server.keepAliveTimeout = idleTimeoutMs;
    server.connectionsCheckingInterval = SWEEP_MS;
    // Node's own check is off, because its answer has no body. `requireHost` answers with the API's error
    // instead.
    server.requireHostHeader = false;
  }

  /** Counts a request that waits for an earlier one. Returns false if this has closed the connection. */
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
    // Streams and refused connections are closed after their response, so they do not wait for a request.
    if (connection.kind === 'request') open.waiting.add(connection);
  }

  /** Closes the connection of a request that Node refuses, with an error answer if the client can read it. */
  private refuse(error: NodeJS.ErrnoException, connection: Connection | undefined, socket: Socket): void {
    if (!connection || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (connection.isClosing) return;
    const { request, response } = connection;
    const refusal = protocolError(error);
    const isAllowed = request !== null && request === connection.slowRequest && !request.complete;
    if (isAllowed && refusal.code === 'REQUEST_TIMEOUT') return;
    connection.isClosing = true;
    const isOfBody = request !== null && !request.complete;
    const isLate = refusal.code === 'REQUEST_TIMEOUT';
    this.metrics.httpConnectionsClosed.inc({
      reason: !isLate ? 'malformed' : isOfBody ? 'body_timeout' : 'head_timeout',
    });
    if (isOfBody) {
      // Without a response, the request was answered before its body was complete; no second answer is sent.
      if (response) sendError(response, refusal);
      else socket.destroy();
      return;
    }
    const answer = () => endAndDestroy(socket, rawAnswer(refusal));
    if (!response) answer();
    else if (connection.kind === 'stream') socket.destroy();
    // The answer to the earlier request of this connection must be sent before this answer.
    else response.once('close', () => (socket.writable ? answer() : socket.destroy()));
  }

  /** Closes connections whose client leaves an answer unread, because it takes memory until it is read. */
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
