import type { Socket } from 'node:net';
import type { Response } from 'express';
import { AppError, RETRYABLE } from '../../common/app-error';
import { IdentifiedRequest } from './request-id';
import { NO_STORE } from './standard-headers';

const RETRY_AFTER_SECONDS = 2;
/**
 * Time for which a client may go on sending after our answer. Closing at once would reset the connection, and
 * the client could lose the answer.
 */
const LINGER_MS = 2_000;

/**
 * Answers with an error. A client that is still sending its body is disconnected, because the rest will not
 * be read.
 */
export function sendError(response: Response, error: AppError): void {
  if (response.headersSent) return void response.destroy();
  const request = response.req as IdentifiedRequest;
  response.statusCode = error.status;
  if (error.code === 'UNAUTHENTICATED') response.setHeader('WWW-Authenticate', 'Bearer');
  if (RETRYABLE.includes(error.code) && !response.hasHeader('Retry-After'))
    response.setHeader('Retry-After', error.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
  response.setHeader('Cache-Control', NO_STORE);
  // A route may have set the type of its success.
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  const body = error.toBody(request.requestId);
  if (isStillSending(request)) sendAndClose(response, JSON.stringify(body));
  else response.json(body);
}

/**
 * Sends the last bytes of a connection, and destroys it once the client has closed its side, at the latest
 * after 2 seconds.
 */
export function endAndDestroy(socket: Socket, lastBytes = ''): void {
  socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Reports whether a request has a body, by its head. */
export function hasBody({ headers }: Pick<IdentifiedRequest, 'headers'>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

function isStillSending(request: IdentifiedRequest): boolean {
  return !request.complete && hasBody(request);
}

/** Sends the answer, but keeps the socket open: `end` would let Node close it at once. */
function sendAndClose(response: Response, json: string): void {
  const { req: request, socket } = response;
  // An earlier answer is still on its way.
  if (!socket) return void request.socket.destroy();
  discardBody(request);
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(json));
  response.write(json);
  endAndDestroy(socket);
}

/**
 * Discards a body: a route must not work on it, even if it arrives completely. The bytes that have arrived
 * are freed now, and not at the end of the connection: each listener of a parser holds them.
 */
function discardBody(request: Response['req']): void {
  request.unpipe();
  for (const event of ['data', 'end', 'close', 'aborted', 'error']) request.removeAllListeners(event);
  request.resume();
}
