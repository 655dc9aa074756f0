import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../common/app-error';
import { RateLimitStorage } from './rate-limit.storage';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 120;

/** Counts refused keys by the client's address, so that keys can't be guessed fast. Valid keys are never held up. */
@Injectable()
export class FailureLimiter {
  constructor(private readonly storage: RateLimitStorage) {}

  /** @throws AppError RATE_LIMITED once an address has been refused too often in this minute */
  async count(request: Request, response: Response): Promise<void> {
    const address = request.ip ?? 'unknown';
    const { isBlocked, timeToExpire } = await this.storage.increment(
      `refused:${address}`,
      WINDOW_MS,
      MAX_FAILURES,
    );
    if (!isBlocked) return;
    response.setHeader('Retry-After', timeToExpire);
    throw new AppError('RATE_LIMITED', `Too many refused API keys. Retry in ${timeToExpire} s.`);
  }
}
