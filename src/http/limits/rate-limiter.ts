import { Injectable } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import { AppError } from '../../common/app-error';
import { Reason } from '../../common/error-texts';
import { FixedWindows } from '../../redis/fixed-windows';
import { ReservedCalls } from './reserved-calls';

const WINDOW_MS = 60_000;

export interface RateLimit {
  /** Number of calls that a window allows. */
  max: number;
  /** Length of the window in milliseconds; a minute by default. */
  windowMs?: number;
  /** First sentence of the error message. If it is a `Reason`, the dashboard shows its own text for it. */
  excess: string | Reason;
}

/**
 * Limit of refused requests a minute from one client network, against guessing of paths, tokens and
 * signatures. Accepted requests do not count.
 */
export const REFUSALS: RateLimit = { max: 120, excess: 'Too many refused requests.' };

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Counts calls by key, such as an address, and refuses calls above a limit. Refused calls count too. */
@Injectable()
export class RateLimiter implements ThrottlerStorage {
  private readonly calls: ReservedCalls;

  constructor(private readonly windows: FixedWindows) {
    this.calls = new ReservedCalls(windows);
  }

  /**
   * Counts one call.
   * @returns the number of calls in the window, this one included
   * @throws AppError RATE_LIMITED above the limit, with the seconds until the window ends
   */
  async countCall(key: string, { max, windowMs = WINDOW_MS, excess }: RateLimit): Promise<number> {
    const { isBlocked, timeToExpire, totalHits } = await this.increment(key, windowMs, max);
    if (isBlocked) throw AppError.rateLimited(excess, timeToExpire);
    return totalHits;
  }

  /** Subtracts a counted call, for example one with a right password where only wrong passwords count. */
  giveBack(key: string): Promise<void> {
    return this.windows.giveBack(windowKeyOf(key));
  }

  /**
   * Reads a window without counting a call.
   * @returns null while Redis is down
   */
  async read(key: string): Promise<{ used: number; endsInSeconds: number } | null> {
    const window = await this.windows.read(windowKeyOf(key));
    return window && { used: window.used, endsInSeconds: Math.ceil(window.endsInMs / 1000) };
  }

  /**
   * Counts one call, for Nest's throttler.
   * @param ttl length of the window, in milliseconds
   * @returns the number of calls in the window, this one included, and the seconds until it ends
   */
  async increment(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const { used, endsInMs } = await this.calls.count(windowKeyOf(key), ttl, limit);
    const timeToExpire = Math.max(1, Math.ceil(endsInMs / 1000));
    return { totalHits: used, timeToExpire, isBlocked: used > limit, timeToBlockExpire: timeToExpire };
  }
}

function windowKeyOf(key: string): string {
  return `rate:${key}`;
}
