import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RateLimit, RateLimiter } from '../rate-limit/rate-limiter';

const FAILURES: RateLimit = { max: 120, excess: 'Too many refused API keys.' };

/** Counts refused keys by client address, against guessing. A valid key is never delayed. */
@Injectable()
export class FailureLimiter {
  constructor(private readonly limiter: RateLimiter) {}

  /** @throws AppError RATE_LIMITED after too many refusals of an address in a minute */
  count(request: Request, response: Response): Promise<void> {
    return this.limiter.count(`refused:${request.ip ?? 'unknown'}`, FAILURES, response);
  }
}
