// Parts that the limits' HTTP servers share.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Returns a request's whole body. */
export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Responds with JSON. */
export function send(response: ServerResponse, status: number, result: object): void {
  const json = JSON.stringify(result);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
  });
  response.end(json);
}
