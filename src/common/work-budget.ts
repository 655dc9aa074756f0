/** Gives a slot back. Further calls do nothing. */
export type Release = () => void;

/**
 * Signals by `close` that a waiting caller gives up: a response closes when its client disconnects. Then its
 * place in the line is free.
 */
export interface Closable {
  /** Whether it has closed already. */
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

export interface WorkLimits {
  /** Number of slots of this process. */
  total: number;
  /** Number of slots that one key may have. */
  perKey: number;
  /** Number of callers that may wait for a slot; none by default. */
  waiting?: number;
  /** Number of callers of one key that may wait. */
  waitingPerKey?: number;
  /** Longest expected wait, in milliseconds, with which a caller joins a line; any by default. */
  maxExpectedMs?: number;
  /** Longest wait, in milliseconds; 10 seconds by default. */
  maxWaitMs?: number;
}

type Settle = (release: Release | null) => void;

/** Longest wait for a slot, where the limits name none; after it an error is the better answer. */
const MAX_WAIT_MS = 10_000;
/** Longest time, in seconds, after which a refused caller is asked to come again. */
const MAX_RETRY_S = 10;
/** Time over which the pace is measured at which the lines are served. */
const MEASURED_MS = 500;

/**
 * Slots for concurrent work of one kind in this process. A key names the workspace or connection for which
 * the work is done. Callers without a slot wait in a line of their key. The lines take turns, so a long line
 * does not hold up the others.
 */
export class WorkBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  /** Waiting callers of all keys in the order in which they came, each with the time until which it waits. */
  private readonly waitingUntil = new Map<Settle, number>();
  /** Waiting callers of each key. The key that was served last is at the end. */
  private readonly lines = new Map<string, Set<Settle>>();
  /**
   * Time in milliseconds from one caller that is served from a line to the next one, in the last two times in
   * which it was measured; 0 while it is not known, because no caller has waited before.
   */
  private pacesMs = [0, 0];
  /** Time, by `performance.now()`, from which the pace is measured, and the callers served since. */
  private measuredSince = 0;
  private served = 0;

  constructor(private readonly limits: WorkLimits) {}

  /** True when no slot is free for any key. */
  get isFull(): boolean {
    return this.used >= this.limits.total;
  }

  /** Reports whether a key has all the slots and all the waiting callers that it may have. */
  isUsedUp(key: string): boolean {
    return this.countUsed(key) >= this.limits.perKey || (this.lines.has(key) && this.isLineFull(key));
  }

  /** Reports whether a caller of the key would get neither a slot nor a place in its line. */
  isCrowded(key: string): boolean {
    return !this.hasSlot(key) && this.hasNoRoom(key);
  }

  /**
   * Takes a slot, if the process and the key have one.
   * @returns null when there is none
   */
  tryAcquire(key: string): Release | null {
    return this.hasSlot(key) ? this.occupy(key) : null;
  }

  /**
   * Takes a slot, or waits for one.
   * @param closable leaves the line when it closes
   * @returns null when no slot was free in time, or the line is full
   */
  acquire(key: string, closable?: Closable): Promise<Release | null> {
    const release = this.tryAcquire(key);
    if (release || this.hasNoRoom(key)) return Promise.resolve(release);
    return new Promise((resolve) => this.wait(key, closable, resolve));
  }

  /**
   * Returns the seconds, at least 1, after which a refused caller finds a place in the line, unless others
   * take it: by then the caller that has waited longest is served or gives up.
   */
  secondsUntilRoom(key: string): number {
    if (this.isTooLong(key)) return Math.min(MAX_RETRY_S, Math.ceil(this.expectedMs(key) / 1_000));
    const line = this.isLineFull(key) ? this.lines.get(key) : this.waitingUntil.keys();
    const [longest] = line ?? [];
    if (!longest || !this.hasNoRoom(key)) return 1;
    return Math.max(1, Math.ceil((this.waitingUntil.get(longest)! - performance.now()) / 1_000));
  }

  private hasSlot(key: string): boolean {
    return !this.isFull && this.countUsed(key) < this.limits.perKey;
  }

  private hasNoRoom(key: string): boolean {
    if (this.isLineFull(key) || this.waitingUntil.size >= (this.limits.waiting ?? 0)) return true;
    return this.isTooLong(key);
  }

  /** Reports whether the key's next caller would wait too long. A short line is no overload. */
  private isTooLong(key: string): boolean {
    const { total, maxExpectedMs = Infinity } = this.limits;
    return this.waitingUntil.size >= 2 * total && this.expectedMs(key) > maxExpectedMs;
  }

  /** Returns the milliseconds that the key's next caller would wait if slots come free as they lately did. */
  private expectedMs(key: string): number {
    const own = this.lines.get(key)?.size ?? 0;
    const lines = this.lines.size + (own === 0 ? 1 : 0);
    // The better one of two, because a lock or a slow statement may have held up the other.
    const paceMs = Math.min(...this.pacesMs);
    // The lines take turns, so a short one is through before the others.
    return paceMs * Math.min(this.waitingUntil.size + 1, (own + 1) * lines);
  }

  private isLineFull(key: string): boolean {
    return (this.lines.get(key)?.size ?? 0) >= (this.limits.waitingPerKey ?? 0);
  }

  private wait(key: string, closable: Closable | undefined, resolve: Settle): void {
    const line = this.lines.get(key) ?? new Set();
    const settle = (release: Release | null) => {
      clearTimeout(timer);
      closable?.off('close', leave);
      line.delete(settle);
      if (line.size === 0) this.lines.delete(key);
      this.waitingUntil.delete(settle);
      resolve(release);
    };
    const leave = () => settle(null);
    const { maxWaitMs = MAX_WAIT_MS } = this.limits;
    const timer = setTimeout(leave, maxWaitMs);
    closable?.once('close', leave);
    if (this.waitingUntil.size === 0) this.measureFrom(performance.now(), [0, 0]);
    line.add(settle);
    this.lines.set(key, line);
    this.waitingUntil.set(settle, performance.now() + maxWaitMs);
  }

  private occupy(key: string): Release {
    this.used += 1;
    this.usedBy.set(key, this.countUsed(key) + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.release(key);
      isHeld = false;
    };
  }

  /** Counts a slot as free. Keys without work are forgotten. */
  private release(key: string): void {
    this.used -= 1;
    const own = this.countUsed(key) - 1;
    if (own > 0) this.usedBy.set(key, own);
    else this.usedBy.delete(key);
    this.serveNext();
  }

  /**
   * Serves the first caller of the next line whose key may have another slot. It passes over at most total /
   * perKey lines.
   */
  private serveNext(): void {
    for (const [key, line] of this.lines) {
      if (this.countUsed(key) >= this.limits.perKey) continue;
      const [first] = line;
      this.lines.delete(key);
      if (line.size > 1) this.lines.set(key, line);
      this.notePace();
      first!(this.occupy(key));
      return;
    }
  }

  private notePace(): void {
    const now = performance.now();
    this.served += 1;
    const elapsed = now - this.measuredSince;
    if (elapsed >= MEASURED_MS) this.measureFrom(now, [this.pacesMs[1]!, elapsed / this.served]);
  }

  private measureFrom(now: number, pacesMs: number[]): void {
    this.pacesMs = pacesMs;
    this.measuredSince = now;
    this.served = 0;
  }

  private countUsed(key: string): number {
    return this.usedBy.get(key) ?? 0;
  }
}
