import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';

/**
 * Express over a server whose requests and answers have its prototypes from the start. Express would set them one
 * request at a time, and what has changed its prototype is slow in V8 wherever it is used from then on.
 */
export class HttpAdapter extends ExpressAdapter {
  /** Sends what has only to be written as JSON, past what Express looks into for other kinds of answers. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (!isPlain(body) || response.req.fresh) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    const json = JSON.stringify(body);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(json));
    return response.end(json);
  }

  /** Plain HTTP, as the service is served behind a proxy: of Nest's options for the server it knows none. */
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    Object.setPrototypeOf(ExpressRequest.prototype, express.request);
    Object.setPrototypeOf(ExpressResponse.prototype, express.response);
    // What Express sets on each: theirs already, so that nothing changes.
    express.request = ExpressRequest.prototype as typeof express.request;
    express.response = ExpressResponse.prototype as typeof express.response;
    const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
    this.httpServer = createServer(classes, express);
  }
}

function isPlain(body: unknown): body is object {
  return typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype;
}
