/** Releases an acquired slot. Further calls do nothing. */
export type Release = () => void;

/** Source of a `close` event that ends a caller's wait, such as a response whose client disconnects. */
export interface Closable {
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

export interface WorkLimits {
  total: number;
  /** Number of slots that one key may use. A key names a workspace or connection. */
  perKey: number;
  /** Largest number of callers that may wait for a slot; 0 by default. */
  waiting?: number;
  /** Largest number of callers of one key that may wait for a slot; 0 by default. */
  waitingPerKey?: number;
  /** Expected wait in milliseconds above which a caller is refused at once; no limit by default. */
  maxExpectedMs?: number;
  /** Longest wait in milliseconds; 10,000 by default. */
  maxWaitMs?: number;
}

type Settle = (release: Release | null) => void;

/** Longest wait in milliseconds by default. After so long, an error is better for callers than a slot. */
const MAX_WAIT_MS = 10_000;
/** Largest number of seconds after which a refused caller is asked to retry. */
const MAX_RETRY_S = 10;
/** Shortest duration in milliseconds of one measurement of the average time between two served callers. */
const MEASURED_MS = 500;

/**
 * Limits concurrent work of one kind in this process. A slot is the permission to do one piece of work. A key
 * names the workspace or connection that the work is for. Callers that get no slot wait in the line of their
 * key. The lines take turns, so that a long line does not delay the callers in other lines.
 */
export class WorkBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  /** Waiting callers of all keys, oldest first, each with the `performance.now()` at which its wait ends. */
  private readonly waitingUntil = new Map<Settle, number>();
  /** Waiting callers of each key. The key that was served last is at the end. */
  private readonly lines = new Map<string, Set<Settle>>();
  /**
   * Average milliseconds between two callers that were served from lines, in the last two measurements; 0
   * where there was no measurement.
   */
  private pacesMs = [0, 0];
  /** Time of `performance.now()` at which the current measurement began. */
  private measuredSince = 0;
  private served = 0;

  constructor(private readonly limits: WorkLimits) {}

  get isFull(): boolean {
    return this.used >= this.limits.total;
  }

  /** Reports whether a key uses all its slots, or all its places in the line. */
  isUsedUp(key: string): boolean {
    return this.countUsed(key) >= this.limits.perKey || (this.lines.has(key) && this.isLineFull(key));
  }

  isCrowded(key: string): boolean {
    return !this.hasSlot(key) && this.hasNoRoom(key);
  }

  tryAcquire(key: string): Release | null {
    return this.hasSlot(key) ? this.occupy(key) : null;
  }

  /**
   * Acquires a slot, or waits for one.
   * @param closable ends the wait when it emits `close`
   * @returns null if no slot became free in time, if the line is full, or after `close`
   */
  acquire(key: string, closable?: Closable): Promise<Release | null> {
    const release = this.tryAcquire(key);
    if (release || this.hasNoRoom(key)) return Promise.resolve(release);
    return new Promise((resolve) => this.wait(key, closable, resolve));
  }

  /**
   * Returns after how many seconds, at least 1, a refused caller should retry. By then, the longest waiting
   * caller has got a slot or stopped waiting, so that there is a place in the line.
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

  /** Reports whether the key's next caller would wait too long. It is false while few callers wait. */
  private isTooLong(key: string): boolean {
    const { total, maxExpectedMs = Infinity } = this.limits;
    return this.waitingUntil.size >= 2 * total && this.expectedMs(key) > maxExpectedMs;
  }

  /** Returns the expected wait, in milliseconds, of the key's next caller, by the latest measurements. */
  private expectedMs(key: string): number {
    const own = this.lines.get(key)?.size ?? 0;
    const lines = this.lines.size + (own === 0 ? 1 : 0);
    // The shorter time counts, because a lock or a slow statement may have delayed one measurement.
    const paceMs = Math.min(...this.pacesMs);
    // The lines take turns, so a short line is served completely before longer ones.
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

  private release(key: string): void {
    this.used -= 1;
    const own = this.countUsed(key) - 1;
    if (own > 0) this.usedBy.set(key, own);
    else this.usedBy.delete(key);
    this.serveNext();
  }

  /** Gives a free slot to the first caller of the next line whose key may use one more slot. */
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
