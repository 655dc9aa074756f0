import type { Socket } from 'node:net';
import type { Response } from 'express';
import { AppError, RETRYABLE } from '../../common/app-error';
import { IdentifiedRequest } from './request-id';
import { NO_STORE } from './standard-headers';

const RETRY_AFTER_SECONDS = 2;
/** Milliseconds in which a client can read the last bytes before its socket is destroyed. */
const LINGER_MS = 2_000;

/** Answers with an error. A client that still sends its body is disconnected, and the rest is not read. */
export function sendError(response: Response, error: AppError): void {
  if (response.headersSent) return void response.destroy();
  const request = response.req as IdentifiedRequest;
  response.statusCode = error.status;
  if (error.code === 'UNAUTHENTICATED') response.setHeader('WWW-Authenticate', 'Bearer');
  if (RETRYABLE.includes(error.code) && !response.hasHeader('Retry-After'))
    response.setHeader('Retry-After', error.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
  response.setHeader('Cache-Control', NO_STORE);
  // The route may have set another type for its successful answer.
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  const body = error.toBody(request.requestId);
  if (isStillSending(request)) sendAndClose(response, JSON.stringify(body));
  else response.json(body);
}

/** Sends the last bytes. Destroys the socket if the client has not closed its side after 2 seconds. */
export function endAndDestroy(socket: Socket, lastBytes = ''): void {
  socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Reports whether the headers of a request announce a body. */
export function hasBody({ headers }: Pick<IdentifiedRequest, 'headers'>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

function isStillSending(request: IdentifiedRequest): boolean {
  return !request.complete && hasBody(request);
}

/** Sends the answer without `response.end`, so that Node does not close the socket before it is read. */
function sendAndClose(response: Response, json: string): void {
  const { req: request, socket } = response;
  // Without a socket, an earlier answer of the connection is still being sent, so this one can't be.
  if (!socket) return void request.socket.destroy();
  discardBody(request);
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(json));
  response.write(json);
  endAndDestroy(socket);
}

/**
 * Discards a body, so that no route processes it even if it arrives completely. Removes the body parser's
 * listeners, so that the bytes that have arrived are freed at once.
 */
function discardBody(request: Response['req']): void {
  request.unpipe();
  for (const event of ['data', 'end', 'close', 'aborted', 'error']) request.removeAllListeners(event);
  request.resume();
}
