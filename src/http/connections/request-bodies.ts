import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { Metrics } from '../../metrics/metrics';
import { hasBody, sendError } from './error-answer';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** Largest body, in bytes, of a route without a limit of its own. */
export const DEFAULT_BODY_BYTES = 256 * KIBIBYTE;

/** Largest body for a path, and not for a route, because the body is read before the route is found. */
export interface BodyLimit {
  path: RegExp;
  /** Largest body in bytes; null for routes that read their bodies themselves. */
  bytes: number | null;
}

interface UnfinishedBody {
  bytes: number;
  refuse(error: AppError): void;
}

/**
 * Limits the size of each body, and the total bytes of bodies that have not arrived completely. Above that
 * total, the body that began first is refused, because it is the slowest.
 */
@Injectable()
export class RequestBodies {
  /** Bodies that have not arrived completely, the earliest first. */
  private readonly unfinished = new Set<UnfinishedBody>();
  private heldBytes = 0;
  private maxUnfinishedBytes = Infinity;
  private limits: BodyLimit[] = [];

  constructor(private readonly metrics: Metrics) {}

  /** Sets the limit of the bytes of all unfinished bodies, and the limits of single bodies by path. */
  configure(maxUnfinishedBytes: number, limits: BodyLimit[]): void {
    this.maxUnfinishedBytes = maxUnfinishedBytes;
    this.limits = limits;
  }

  /** Different body limits, in bytes. Each needs its own body parser, because a parser has one limit. */
  get sizes(): number[] {
    const sizes = this.limits.map(({ bytes }) => bytes).filter((bytes) => bytes !== null);
    return [...new Set([...sizes, DEFAULT_BODY_BYTES])];
  }

  /** Returns the largest body of a request in bytes; null if its route reads the body itself. */
  limitOf({ url }: Pick<Request, 'url'>): number | null {
    const limit = this.limits.find(({ path }) => path.test(url));
    return limit ? limit.bytes : DEFAULT_BODY_BYTES;
  }

  /** Middleware that limits a body that a body parser will read. */
  readonly watchParsed = (request: Request, response: Response, next: NextFunction): void => {
    const limit = hasBody(request) ? this.limitOf(request) : null;
    if (limit === null) return next();
    if (isDeclaredTooLarge(request, limit)) return next(tooLarge(limit));
    this.watch(request, limit, (error) => sendError(response, error));
    next();
  };

  /** Middleware for errors. If a body was too large for its parser, it names the limit in the answer. */
  readonly nameLimit = (error: unknown, request: Request, _: Response, next: NextFunction): void => {
    const limit = this.limitOf(request);
    next(limit !== null && isTooLarge(error) ? tooLarge(limit) : error);
  };

  /**
   * Reads the body for a route that reads its bodies itself.
   * @param limit largest body in bytes
   * @throws AppError PAYLOAD_TOO_LARGE; UNAVAILABLE: this process has too many bytes of unfinished bodies;
   *   INVALID_BODY: the client disconnects
   */
  read(request: Request, limit: number): Promise<Buffer> {
    if (isDeclaredTooLarge(request, limit)) return Promise.reject(tooLarge(limit));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      this.watch(request, limit, (error) => {
        chunks.length = 0;
        reject(error);
      });
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => resolve(Buffer.concat(chunks)));
      request.res!.once('close', () => reject(new AppError('INVALID_BODY', 'The body is not complete.')));
    });
  }

  private watch(request: Request, limit: number, onRefused: (error: AppError) => void): void {
    const release = () => {
      if (!this.unfinished.delete(body)) return;
      this.hold(-body.bytes);
    };
    const body: UnfinishedBody = {
      bytes: 0,
      refuse: (error) => {
        release();
        onRefused(error);
      },
    };
    this.unfinished.add(body);
    request.on('data', (chunk: Buffer) => {
      if (!this.unfinished.has(body)) return;
      body.bytes += chunk.length;
      this.hold(chunk.length);
      if (body.bytes > limit) body.refuse(tooLarge(limit));
      this.refuseSlowest();
    });
    request.once('end', release);
    // `end` does not come if `sendError` has removed the request's listeners, so `close` releases too.
    request.res!.once('close', release);
  }

  private refuseSlowest(): void {
    for (const body of this.unfinished) {
      if (this.heldBytes <= this.maxUnfinishedBytes) return;
      this.metrics.httpBodiesRefused.inc();
      body.refuse(
        new AppError('UNAVAILABLE', 'The process holds too many unfinished bodies. Retry shortly.'),
      );
    }
  }

  private hold(bytes: number): void {
    this.heldBytes += bytes;
    this.metrics.httpUnfinishedBytes.set(this.heldBytes);
  }
}

function isDeclaredTooLarge({ headers }: Request, limit: number): boolean {
  return Number(headers['content-length'] ?? 0) > limit;
}

/** Reports whether a parser refused a body for its size, for example after it inflated the body. */
function isTooLarge(error: unknown): boolean {
  return (error as { type?: string } | undefined)?.type === 'entity.too.large';
}

function tooLarge(limit: number): AppError {
  const size = limit % MEBIBYTE === 0 ? `${limit / MEBIBYTE} MiB` : `${Math.floor(limit / KIBIBYTE)} KiB`;
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${size}.`);
}
