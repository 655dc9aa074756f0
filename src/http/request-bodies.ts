import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../common/app-error';
import { hasBody, sendError } from './error-answer';
import { Config } from '../config/config';
import { Metrics } from '../metrics/metrics';

export interface BodyLimit {
  bytes: number;
  /** As people read it: `256 KiB`. */
  label: string;
}

interface UnfinishedBody {
  bytes: number;
  refuse(error: AppError): void;
}

/**
 * Keeps the bodies of requests within their size, and the bytes that this process holds of unfinished ones within
 * theirs. Above that, the body that has been on its way longest is refused: it is the slowest.
 */
@Injectable()
export class RequestBodies {
  /** In the order of their arrival. */
  private readonly unfinished = new Set<UnfinishedBody>();
  private heldBytes = 0;

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
  ) {}

  /** Middleware, before a parser. */
  limit(limit: BodyLimit, isExempt: (request: Request) => boolean) {
    return (request: Request, response: Response, next: NextFunction): void => {
      if (!hasBody(request) || isExempt(request)) return next();
      if (isDeclaredTooLarge(request, limit)) return next(tooLarge(limit));
      this.watch(request, limit, (error) => sendError(response, error));
      next();
    };
  }

  /**
   * Reads a body that no parser takes.
   * @throws AppError PAYLOAD_TOO_LARGE, UNAVAILABLE (this process holds too much); INVALID_BODY when the caller hangs up
   */
  read(request: Request, limit: BodyLimit): Promise<Buffer> {
    if (isDeclaredTooLarge(request, limit)) return Promise.reject(tooLarge(limit));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      this.watch(request, limit, reject);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => resolve(Buffer.concat(chunks)));
      request.once('close', () => reject(new AppError('INVALID_BODY', 'The body is not complete.')));
    });
  }

  private watch(request: Request, limit: BodyLimit, onRefused: (error: AppError) => void): void {
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
      if (body.bytes > limit.bytes) body.refuse(tooLarge(limit));
      this.refuseSlowest();
    });
    request.once('end', release);
    request.once('close', release);
  }

  private refuseSlowest(): void {
    for (const body of this.unfinished) {
      if (this.heldBytes <= this.config.httpMaxUnfinishedBytes) return;
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

function isDeclaredTooLarge({ headers }: Request, { bytes }: BodyLimit): boolean {
  return Number(headers['content-length'] ?? 0) > bytes;
}

function tooLarge({ label }: BodyLimit): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${label}.`);
}
