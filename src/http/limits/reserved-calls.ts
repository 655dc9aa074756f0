import { startDeadline } from '../../common/deadlines';
import { Memo } from '../../common/memo';
import { FixedWindows } from '../../redis/fixed-windows';

/** Milliseconds after which reserved calls that were not made are given back. */
const RESERVED_MS = 1_000;
/** Largest share of its limit that a process reserves. */
const MAX_SHARE = 1 / 100;
/** Smallest limit with reserved calls; calls under a lower limit are counted one by one. */
const MIN_LIMIT = 500;
/** Share of its limit from which on the calls of a window are counted one by one. */
const EXACT_FROM = 1 / 2;
const MAX_KEYS = 10_000;

interface Reservation {
  /** Number of calls, and the count of their window with all of them. */
  size: number;
  used: number;
  /** Number of calls that were not made yet. */
  left: number;
  /** Time of `performance.now()`. */
  reservedAt: number;
  /** Time of `performance.now()`; 0 while Redis has not answered. */
  windowEndsAt: number;
}

/**
 * Counts calls by key over all processes. For a busy key it counts several calls in Redis before they are
 * made, so that at 20 calls a second one of five waits for Redis, and at 200 one of forty. Calls that were
 * not made within a second are given back. None is reserved above half of the limit, so that no call is
 * refused because of others that were not made.
 */
export class ReservedCalls {
  private readonly reservations = new Memo<Reservation>(MAX_KEYS);

  constructor(private readonly windows: FixedWindows) {}

  /**
   * Counts one call.
   * @returns the number of calls in the window up to this one
   */
  async count(key: string, windowMs: number, limit: number): Promise<{ used: number; endsInMs: number }> {
    const now = performance.now();
    const last = this.reservations.find(key);
    if (last && last.left > 0 && now < last.windowEndsAt) {
      last.left -= 1;
      return { used: last.used - last.left, endsInMs: last.windowEndsAt - now };
    }
    const isReserving = last?.windowEndsAt === 0;
    const size = isReserving ? 1 : nextSize(last, limit, now);
    const reservation = { size, used: 0, left: 0, reservedAt: now, windowEndsAt: 0 };
    if (!isReserving) this.reservations.set(key, reservation);
    const { used, endsInMs } = await this.windows.acquire(key, { windowMs }, size);
    const left = size - 1;
    Object.assign(reservation, { used, left, windowEndsAt: performance.now() + endsInMs });
    if (left > 0) startDeadline(RESERVED_MS, () => this.giveBack(key, reservation));
    return { used: used - left, endsInMs };
  }

  private giveBack(key: string, reservation: Reservation): void {
    const { left, windowEndsAt } = reservation;
    reservation.left = 0;
    if (left > 0 && performance.now() < windowEndsAt) void this.windows.giveBack(key, left);
  }
}

/** Returns twice the size of the last reservation if its calls were made within a second; otherwise one. */
function nextSize(last: Reservation | undefined, limit: number, now: number): number {
  const isBusy = last !== undefined && now - last.reservedAt < RESERVED_MS;
  if (!isBusy || limit < MIN_LIMIT || last.used >= limit * EXACT_FROM) return 1;
  return Math.min(last.size * 2, Math.floor(limit * MAX_SHARE));
}
