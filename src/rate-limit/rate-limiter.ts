import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../common/app-error';
import { RateLimitStorage } from './rate-limit.storage';

const WINDOW_MS = 60_000;

export interface RateLimit {
  /** Calls a minute. */
  max: number;
  /** The first sentence of the error message. */
  excess: string;
}

/** Limits calls a minute by any key: an address, a visitor. */
@Injectable()
export class RateLimiter {
  constructor(private readonly storage: RateLimitStorage) {}

  /**
   * Counts one call.
   * @throws AppError RATE_LIMITED above the limit; also sets `Retry-After` on the response
   */
  async count(key: string, { max, excess }: RateLimit, response: Response): Promise<void> {
    const { isBlocked, timeToExpire } = await this.storage.increment(key, WINDOW_MS, max);
    if (!isBlocked) return;
    response.setHeader('Retry-After', timeToExpire);
    throw new AppError('RATE_LIMITED', `${excess} Retry in ${timeToExpire} s.`);
  }
}
