import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../common/app-error';
import { RateLimitStorage } from './rate-limit.storage';

const WINDOW_MS = 60_000;

/** What may be done so many times a minute. */
export interface RateLimit {
  max: number;
  /** What there was too much of, as a sentence: the caller is told it. */
  excess: string;
}

/** Counts what callers do, minute by minute, whoever they are: an address, a visitor. */
@Injectable()
export class RateLimiter {
  constructor(private readonly storage: RateLimitStorage) {}

  /**
   * Counts one time more.
   * @param key of what is counted together
   * @throws AppError RATE_LIMITED once it was too often in this minute; the answer's `Retry-After` says how long
   */
  async count(key: string, { max, excess }: RateLimit, response: Response): Promise<void> {
    const { isBlocked, timeToExpire } = await this.storage.increment(key, WINDOW_MS, max);
    if (!isBlocked) return;
    response.setHeader('Retry-After', timeToExpire);
    throw new AppError('RATE_LIMITED', `${excess} Retry in ${timeToExpire} s.`);
  }
}
