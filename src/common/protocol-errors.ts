import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from './app-error';
import { newId } from './ids';

/** Gives the API's error body to requests that Node itself refuses before routing. */
export function answerProtocolErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    socket.end(refusal(error.code));
  });
  // Node would refuse an unknown Expect header. This ignores the header.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
}

/** HTTP/1.1 requires a Host header; HTTP/1.0, which health checks may use, does not. */
export function requireHost({ headers, httpVersion }: Request, _: Response, next: NextFunction): void {
  const isRefused = httpVersion === '1.1' && headers.host === undefined;
  next(isRefused ? new AppError('INVALID_BODY', 'The request has no Host header.') : undefined);
}

function refusal(code: string | undefined): string {
  const error =
    code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('PAYLOAD_TOO_LARGE', 'The headers are too large.')
      : new AppError('INVALID_BODY', 'The request is not HTTP as it is specified.');
  const requestId = newId();
  const body = JSON.stringify(error.toBody(requestId));
  return [
    `HTTP/1.1 ${error.status} ${error.status === 413 ? 'Payload Too Large' : 'Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
