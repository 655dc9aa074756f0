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
}

type Settle = (release: Release | null) => void;

/** Longest wait for a slot; after it an error is the better answer. */
const MAX_WAIT_MS = 10_000;

/**
 * Slots for concurrent work of one kind in this process. A key names what the work is done for: a workspace,
 * a connection. Callers without a slot wait in a line of their key. The lines take turns, so a long line does
 * not hold up the others.
 */
export class WorkBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  /** Waiting callers of all keys in the order in which they came, each with the time until which it waits. */
  private readonly waitingUntil = new Map<Settle, number>();
  /** Waiting callers of each key. The key that was served last is at the end. */
  private readonly lines = new Map<string, Set<Settle>>();

  constructor(private readonly limits: WorkLimits) {}

  /** True when no slot is free for any key. */
  get isFull(): boolean {
    return this.used >= this.limits.total;
  }

  /** Reports whether a key has all the slots and all the waiting callers that it may have. */
  isUsedUp(key: string): boolean {
    return this.countUsed(key) >= this.limits.perKey || (this.lines.has(key) && this.isLineFull(key));
  }

  /**
   * Takes a slot, if the process and the key have one.
   * @returns null when there is none
   */
  tryAcquire(key: string): Release | null {
    return this.isFull || this.countUsed(key) >= this.limits.perKey ? null : this.occupy(key);
  }

  /**
   * Takes a slot, or waits up to 10 seconds for one.
   * @param closable leaves the line when it closes
   * @returns null when no slot was free in time, or the line is full
   */
  acquire(key: string, closable?: Closable): Promise<Release | null> {
    const release = this.tryAcquire(key);
    if (release || this.hasNoPlace(key)) return Promise.resolve(release);
    return new Promise((resolve) => this.wait(key, closable, resolve));
  }

  /**
   * Returns the seconds, at least 1, after which a refused caller finds a place in the line, unless others
   * take it: by then the caller that has waited longest is served or gives up.
   */
  secondsUntilPlace(key: string): number {
    const line = this.isLineFull(key) ? this.lines.get(key) : this.waitingUntil.keys();
    const [longest] = line ?? [];
    if (!longest || !this.hasNoPlace(key)) return 1;
    return Math.max(1, Math.ceil((this.waitingUntil.get(longest)! - performance.now()) / 1_000));
  }

  private hasNoPlace(key: string): boolean {
    return this.isLineFull(key) || this.waitingUntil.size >= (this.limits.waiting ?? 0);
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
    const timer = setTimeout(leave, MAX_WAIT_MS);
    closable?.once('close', leave);
    line.add(settle);
    this.lines.set(key, line);
    this.waitingUntil.set(settle, performance.now() + MAX_WAIT_MS);
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
      first!(this.occupy(key));
      return;
    }
  }

  private countUsed(key: string): number {
    return this.usedBy.get(key) ?? 0;
  }
}
