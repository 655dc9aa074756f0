import type { Request, Response } from 'express';
import { newId } from '../../common/ids';

const WELL_FORMED = /^[\w.:-]{1,128}$/;

export interface IdentifiedRequest extends Request {
  requestId: string;
}

/** Sets the request's id: the caller's `X-Request-Id` if well formed, otherwise a new id. Answers with it. */
export function giveId(request: Request, response: Response): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && WELL_FORMED.test(given) ? given : newId();
  (request as IdentifiedRequest).requestId = id;
  response.setHeader('X-Request-Id', id);
}
