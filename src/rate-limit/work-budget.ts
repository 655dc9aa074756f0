/** Gives a slot back, once however often it is called. */
export type Release = () => void;

/** Leaves a line when it closes: a response closes when its client hangs up. */
export interface Closable {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

export interface WorkLimits {
  /** In flight in this process. */
  total: number;
  /** Of these, for one key. */
  perKey: number;
  /** Callers that wait for a slot; none by default. */
  waiting?: number;
  /** Of these, for one key. */
  waitingPerKey?: number;
}

type Settle = (release: Release | null) => void;

/** A longer wait is better answered with an error. */
const MAX_WAIT_MS = 10_000;

/**
 * Slots for concurrent work of one kind in this process. A key is what the work is done for: a workspace, a
 * connection. Callers without a slot wait in a line of their key. The lines take turns, so a long one does
 * not hold up the others.
 */
export class WorkBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  private waiting = 0;
  /** The key that was served last is the last one. */
  private readonly lines = new Map<string, Set<Settle>>();

  constructor(private readonly limits: WorkLimits) {}

  /** True when no key finds a slot. */
  get isFull(): boolean {
    return this.used >= this.limits.total;
  }

  /** True when the key itself has all that it may have, in flight or in its line. */
  isUsedUp(key: string): boolean {
    return this.usedOf(key) >= this.limits.perKey || (this.lines.has(key) && this.isLineFull(key));
  }

  /**
   * Takes a slot, if the process and the key have one.
   * @returns null when there is none
   */
  tryAcquire(key: string): Release | null {
    return this.isFull || this.usedOf(key) >= this.limits.perKey ? null : this.take(key);
  }

  /**
   * Takes a slot, or waits for one for 10 seconds at most.
   * @param closable leaves the line when it closes
   * @returns null when there is none in time, or the line is full
   */
  acquire(key: string, closable?: Closable): Promise<Release | null> {
    const release = this.tryAcquire(key);
    const { waiting = 0 } = this.limits;
    if (release || this.isLineFull(key) || this.waiting >= waiting) return Promise.resolve(release);
    return new Promise((resolve) => this.wait(key, closable, resolve));
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
      this.waiting -= 1;
      resolve(release);
    };
    const leave = () => settle(null);
    const timer = setTimeout(leave, MAX_WAIT_MS);
    closable?.once('close', leave);
    line.add(settle);
    this.lines.set(key, line);
    this.waiting += 1;
  }

  private take(key: string): Release {
    this.used += 1;
    this.usedBy.set(key, this.usedOf(key) + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.release(key);
      isHeld = false;
    };
  }

  /** Keys without work are forgotten. */
  private release(key: string): void {
    this.used -= 1;
    const own = this.usedOf(key) - 1;
    if (own > 0) this.usedBy.set(key, own);
    else this.usedBy.delete(key);
    this.serveNext();
  }

  /** Passes over the keys that have all their slots: total / perKey of them at most. */
  private serveNext(): void {
    for (const [key, line] of this.lines) {
      if (this.usedOf(key) >= this.limits.perKey) continue;
      const [first] = line;
      this.lines.delete(key);
      if (line.size > 1) this.lines.set(key, line);
      first!(this.take(key));
      return;
    }
  }

  private usedOf(key: string): number {
    return this.usedBy.get(key) ?? 0;
  }
}
