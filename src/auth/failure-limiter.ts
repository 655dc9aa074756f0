import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RateLimit, RateLimiter } from '../rate-limit/rate-limiter';

const FAILURES: RateLimit = { max: 120, excess: 'Too many refused API keys.' };

/** Counts refused keys by the client's address, so that keys can't be guessed fast. Valid keys are never held up. */
@Injectable()
export class FailureLimiter {
  constructor(private readonly limiter: RateLimiter) {}

  /** @throws AppError RATE_LIMITED once an address has been refused too often in this minute */
  count(request: Request, response: Response): Promise<void> {
    return this.limiter.count(`refused:${request.ip ?? 'unknown'}`, FAILURES, response);
  }
}
