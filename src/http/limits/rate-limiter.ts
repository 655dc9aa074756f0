import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error';
import { Reason } from '../../common/error-texts';
import { RateLimitStorage } from './rate-limit-storage';

const WINDOW_MS = 60_000;

export interface RateLimit {
  /** Number of calls that a window allows. */
  max: number;
  /** Length of the window in milliseconds; a minute by default. */
  windowMs?: number;
  /** First sentence of the error message, with its code where a page of the dashboard may show it. */
  excess: string | Reason;
}

/**
 * Limit of refused requests a minute from one client network, against guessing of paths, tokens and
 * signatures. Accepted requests do not count.
 */
export const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused requests.' };

/** Limits the calls in a window by any key, such as an address or a visitor. */
@Injectable()
export class RateLimiter {
  constructor(private readonly storage: RateLimitStorage) {}

  /**
   * Counts one call.
   * @returns the number of calls in the window, this one included
   * @throws AppError RATE_LIMITED above the limit, with the seconds until the window ends
   */
  async countCall(key: string, { max, windowMs = WINDOW_MS, excess }: RateLimit): Promise<number> {
    const { isBlocked, timeToExpire, totalHits } = await this.storage.increment(key, windowMs, max);
    if (isBlocked) throw AppError.rateLimited(excess, timeToExpire);
    return totalHits;
  }

  /** Takes one call back, such as a login that succeeded where only guesses are to count. */
  giveBack(key: string): Promise<void> {
    return this.storage.decrement(key);
  }

  /**
   * Counts one call.
   * @returns the number of calls in the window, this one included
   * @throws AppError RATE_LIMITED above the limit; also sets `Retry-After` on the response
   */
  async countRequest(key: string, limit: RateLimit, response: Response): Promise<number> {
    try {
      return await this.countCall(key, limit);
    } catch (error) {
      const { retryAfterSeconds } = error as AppError;
      if (retryAfterSeconds) response.setHeader('Retry-After', retryAfterSeconds);
      throw error;
    }
  }
}
