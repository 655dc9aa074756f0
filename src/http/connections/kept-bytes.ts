import type { Response } from 'express';

const ARE_KEPT = 'bytesAreKept';

/**
 * Answers with bytes that this process keeps anyway, such as a file's. As long as the client does not read
 * them, they take no memory of their own.
 */
export function sendKept(response: Response, bytes: Buffer): void {
  response.locals[ARE_KEPT] = true;
  response.send(bytes);
}

export function areKept({ locals }: Response): boolean {
  return locals[ARE_KEPT] === true;
}
