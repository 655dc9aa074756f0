import type { Response } from 'express';

const ARE_KEPT = 'bytesAreKept';

/** Sends bytes that are in memory anyway, such as a file's. The limit of unread bytes ignores them. */
export function sendKept(response: Response, bytes: Buffer): void {
  response.locals[ARE_KEPT] = true;
  response.send(bytes);
}

export function areKept({ locals }: Response): boolean {
  return locals[ARE_KEPT] === true;
}
