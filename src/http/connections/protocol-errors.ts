import { STATUS_CODES } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { STANDARD_HEADERS } from './standard-headers';

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Refuses HTTP/1.1 without a Host header. HTTP/1.0, which health checks may use, requires none. */
export function requireHost({ headers, httpVersion }: Request, _: Response, next: NextFunction): void {
  const isRefused = httpVersion === '1.1' && headers.host === undefined;
  next(isRefused ? new AppError('INVALID_BODY', 'The request has no Host header.') : undefined);
}

/** Returns the API's error for a request that Node refuses before routing. */
export function protocolError({ code }: NodeJS.ErrnoException): AppError {
  if (code === TIMED_OUT) return new AppError('REQUEST_TIMEOUT', 'The request took too long to arrive.');
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('PAYLOAD_TOO_LARGE', 'The headers are too large.');
  return new AppError('INVALID_BODY', 'The request is not HTTP as it is specified.');
}

/** Returns the text of an HTTP answer with an error, for input from which Node could make no request. */
export function rawAnswer(error: AppError): string {
  const requestId = newId();
  const body = JSON.stringify(error.toBody(requestId));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    ...STANDARD_HEADERS,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
}
