import type { NextFunction, Request, Response } from 'express';
import { newId } from './ids';

const WELL_FORMED = /^[\w.:-]{1,128}$/;

/** A request that has its id. */
export interface IdentifiedRequest extends Request {
  requestId: string;
}

/** Gives every request an id, the caller's own if it is well formed, and every answer the same in `X-Request-Id`. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && WELL_FORMED.test(given) ? given : newId();
  (request as IdentifiedRequest).requestId = id;
  response.setHeader('X-Request-Id', id);
  next();
}
