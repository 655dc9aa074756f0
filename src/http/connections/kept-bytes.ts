import type { Response } from 'express';

const ARE_KEPT = 'bytesAreKept';

/** Sends bytes that stay in memory, read or not, such as a file's, so that they do not count as unread. */
export function sendKept(response: Response, bytes: Buffer): void {
  response.locals[ARE_KEPT] = true;
  response.send(bytes);
}

export function areKept({ locals }: Response): boolean {
  return locals[ARE_KEPT] === true;
}
