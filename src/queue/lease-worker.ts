import { Logger } from '@nestjs/common';
import { ConcurrencyLimiter } from './concurrency-limiter';

export const CONCURRENT_CLAIMS = 20;
const WAKE_OTHERS_EVERY_MS = 1_000;

/**
 * Claims what is due to a target (an endpoint, a connection), up to its free slots, and processes the items
 * concurrently. A claim does not wait for the processing, so a slow target delays no claim.
 */
export abstract class LeaseWorker<Claimed> {
  private readonly claimsLogger = new Logger(this.constructor.name);
  /** Claims and items in progress. */
  private readonly active = new Set<Promise<unknown>>();
  /** Targets to claim for, the longest waiting first. */
  private readonly woken = new Set<string>();
  private claimLoops = 0;
  /** Within the last WAKE_OTHERS_EVERY_MS. */
  private readonly othersWokenFor = new Set<string>();
  private stopping = false;

  protected constructor(private readonly limiter: ConcurrencyLimiter) {}

  /** True while claiming for a target would only postpone its items. */
  protected abstract isPaused(id: string): boolean;

  /** Claims up to `count` due items of a target, under a lease. */
  protected abstract claim(id: string, count: number): Promise<Claimed[]>;

  /** Processes one item and records its outcome. Never rejects. */
  protected abstract process(id: string, claimed: Claimed): Promise<void>;

  /** Enqueues targets, so that any worker claims for them. */
  protected abstract wakeOtherWorkers(ids: string[]): void;

  canClaim(id: string): boolean {
    return !this.isPaused(id) && this.limiter.freeSlots(id) > 0;
  }

  /** Claims for targets in this process. Several wake-ups before a claim are one. */
  wake(ids: Iterable<string>): void {
    for (const id of ids) this.woken.add(id);
    while (this.woken.size > 0 && this.claimLoops < CONCURRENT_CLAIMS) void this.claimForWoken();
  }

  /** Settles when every due item that has a slot is claimed and started. */
  claimAndStart(id: string): Promise<void> {
    return this.track(this.claimUntilFull(id));
  }

  /**
   * Reserves up to `wanted` slots of a target, for items that the caller claims itself. Returns 0 while older items
   * wait for a slot. `startReserved` must follow at once.
   */
  reserveSlots(id: string, wanted: number): number {
    if (this.stopping || this.isPaused(id) || this.woken.has(id) || this.limiter.isWaiting(id)) return 0;
    const slots = Math.min(wanted, this.limiter.freeSlots(id));
    this.limiter.acquire(id, slots);
    return slots;
  }

  /**
   * Starts the items of a claim in reserved slots, and releases the slots that the claim did not fill.
   * @param claiming never rejects: a failed claim is empty
   */
  startReserved(id: string, slots: number, claiming: Promise<Claimed[]>): void {
    void this.track(this.startClaimed(id, slots, claiming));
  }

  /** Claims nothing more; settles when every claimed item is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  protected get isStopping(): boolean {
    return this.stopping;
  }

  private async claimForWoken(): Promise<void> {
    this.claimLoops += 1;
    for (const id of this.woken) {
      this.woken.delete(id);
      await this.claimAndStart(id).catch((error: Error) =>
        this.claimsLogger.error({ err: error, id }, 'claiming failed; the sweeper will retry'),
      );
    }
    this.claimLoops -= 1;
  }

  private async claimUntilFull(id: string): Promise<void> {
    while (!this.stopping && this.canClaim(id)) {
      const slots = this.limiter.freeSlots(id);
      // Before the claim, so that two concurrent claims for one target can't use the same slots.
      this.limiter.acquire(id, slots);
      const claimed = await this.startClaimed(id, slots, this.claim(id, slots));
      if (claimed.length < slots) return;
    }
    // A delayed job wakes a paused target. Until then, others may use its slots.
    if (this.isPaused(id)) return;
    this.limiter.addWaiting(id);
    this.wakeOthersThrottled(id);
  }

  private async startClaimed(id: string, slots: number, claiming: Promise<Claimed[]>): Promise<Claimed[]> {
    let claimed: Claimed[] = [];
    try {
      claimed = await claiming;
    } finally {
      this.release(id, slots - claimed.length);
    }
    for (const one of claimed) void this.track(this.processInSlot(id, one));
    return claimed;
  }

  private async processInSlot(id: string, claimed: Claimed): Promise<void> {
    try {
      await this.process(id, claimed);
    } finally {
      this.release(id, 1);
    }
  }

  private release(id: string, slots: number): void {
    if (slots === 0) return;
    this.limiter.release(id, slots);
    const ready = this.limiter.takeReady(id);
    if (ready.length === 0) return;
    if (this.stopping) this.wakeOtherWorkers(ready);
    else this.wake(ready);
  }

  /** Other workers may have free slots. */
  private wakeOthersThrottled(id: string): void {
    if (this.othersWokenFor.has(id)) return;
    if (this.othersWokenFor.size === 0) {
      setTimeout(() => this.othersWokenFor.clear(), WAKE_OTHERS_EVERY_MS).unref();
    }
    this.othersWokenFor.add(id);
    this.wakeOtherWorkers([id]);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
