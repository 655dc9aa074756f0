import { Logger } from '@nestjs/common';
import { Slots } from './slots';
import { targetKeyOf, Target } from './target';
import { Turns } from './turns';

export const CONCURRENT_CLAIMS = 20;
const WAKE_OTHERS_EVERY_MS = 1_000;
/** Waiting targets that one pass looks at. It bounds the time of a pass, however many targets wait. */
const VISITS_PER_PASS = 100;

/**
 * Claims what is due to targets, up to their free slots, and processes the items concurrently. A claim does
 * not wait for the processing, so a slow target delays no claim.
 */
export abstract class LeaseWorker<Claimed> {
  private readonly claimsLogger = new Logger(this.constructor.name);
  /** Claims and items in progress. */
  private readonly active = new Set<Promise<unknown>>();
  /** Targets that wait for a claim. */
  private readonly woken = new Turns();
  /** Targets that use all slots of their own limit, and may have more to start. */
  private readonly waitingForOwn = new Map<string, Target>();
  /** Targets that found no slot left in the pool that workspaces share. */
  private readonly waitingForShared = new Turns();
  private claimLoops = 0;
  private isPassPlanned = false;
  /** Keys of targets for which other workers were woken within the last WAKE_OTHERS_EVERY_MS. */
  private readonly othersWokenFor = new Set<string>();
  private stopping = false;
  private released: () => void = () => {};

  protected constructor(protected readonly slots: Slots) {}

  /** Reports whether claiming for a target would only postpone its items. */
  protected abstract isPaused(target: Target): boolean;

  /** Claims up to `count` due items of a target, under a lease. */
  protected abstract claim(target: Target, count: number): Promise<Claimed[]>;

  /** Processes one item and records its outcome. Never rejects. */
  protected abstract process(target: Target, claimed: Claimed): Promise<void>;

  /** Enqueues targets, so that any worker claims for them. */
  protected abstract wakeOtherWorkers(targets: Target[]): void;

  canClaim(target: Target): boolean {
    return !this.isPaused(target) && this.slots.countFree(target) > 0;
  }

  /** Claims for targets in this process. Several wake-ups before a claim are one. */
  wake(targets: Iterable<Target>): void {
    for (const target of targets) if (!this.isWaiting(target)) this.woken.add(target);
    while (this.woken.size > 0 && this.claimLoops < CONCURRENT_CLAIMS) void this.claimForWoken();
  }

  /** Settles when every due item that has a slot is claimed and started. */
  async claimAndStart(target: Target): Promise<void> {
    if (!this.isWaiting(target)) await this.track(this.claimUntilFull(target));
  }

  /** Returns how many items may start at once without a claim: none while older items wait. */
  countFreeSlots(target: Target): number {
    if (this.stopping || this.isPaused(target) || this.hasOlder(target)) return 0;
    return this.slots.countFree(target);
  }

  /** Reports whether a target can start several items at once. */
  isHalfFree(target: Target): boolean {
    return this.countFreeSlots(target) > 0 && this.slots.isHalfFree(target);
  }

  /**
   * Takes free slots for items that the caller claims, and starts the items that `claim` resolves to. Slots
   * without an item are released; if `claim` rejects, all are.
   */
  admit(target: Target, slots: number, claim: Promise<Claimed[]>): void {
    this.slots.acquire(target, slots);
    // The caller handles a failed claim.
    void this.track(this.startClaimed(target, slots, claim)).catch(() => undefined);
  }

  /** Registers a callback that runs once for all slots that are released in one turn of the event loop. */
  onRelease(callback: () => void): void {
    this.released = callback;
  }

  /** Stops claiming. Settles when every claimed item is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  protected get isStopping(): boolean {
    return this.stopping;
  }

  private hasOlder(target: Target): boolean {
    return this.woken.has(target) || this.isWaiting(target);
  }

  /** Reports whether the target waits for a slot: when one is released, a claim for it follows. */
  private isWaiting(target: Target): boolean {
    return this.waitingForOwn.has(targetKeyOf(target)) || this.waitingForShared.has(target);
  }

  private async claimForWoken(): Promise<void> {
    this.claimLoops += 1;
    for (let target = this.woken.next(); target; target = this.woken.next()) {
      const { tenantId, id } = target;
      await this.claimAndStart(target).catch((error: Error) =>
        this.claimsLogger.error({ err: error, tenantId, id }, 'claiming failed; it will be retried'),
      );
    }
    this.claimLoops -= 1;
  }

  private async claimUntilFull(target: Target): Promise<void> {
    while (!this.stopping && this.canClaim(target)) {
      const slots = this.slots.countFree(target);
      // Before the claim, so that two concurrent claims for one target can't use the same slots.
      this.slots.acquire(target, slots);
      const claimed = await this.startClaimed(target, slots, this.claim(target, slots));
      if (claimed.length < slots) return;
    }
    // A delayed job wakes a paused target. Until then, others may use its slots.
    if (this.isPaused(target)) return;
    this.wait(target);
    this.wakeOthersThrottled(target);
  }

  private async startClaimed(
    target: Target,
    slots: number,
    claiming: Promise<Claimed[]>,
  ): Promise<Claimed[]> {
    let claimed: Claimed[] = [];
    try {
      claimed = await claiming;
    } finally {
      this.release(target, slots - claimed.length);
    }
    for (const one of claimed) void this.track(this.processInSlot(target, one));
    return claimed;
  }

  private async processInSlot(target: Target, claimed: Claimed): Promise<void> {
    try {
      await this.process(target, claimed);
    } finally {
      this.release(target, 1);
    }
  }

  private wait(target: Target): void {
    if (target.isBackground) this.slots.setBackgroundWaiting(target.id, true);
    if (this.slots.countFreeOwn(target) > 0) this.waitingForShared.add(target);
    else this.waitingForOwn.set(targetKeyOf(target), target);
  }

  private release(target: Target, slots: number): void {
    if (slots === 0) return;
    this.slots.release(target, slots);
    // Live and background work share the target's slots.
    if (this.waitingForOwn.size > 0)
      for (const isBackground of [false, true]) this.wakeIfHalfFree({ ...target, isBackground });
    this.planPass();
  }

  private wakeIfHalfFree(target: Target): void {
    const waiting = this.waitingForOwn.get(targetKeyOf(target));
    if (!waiting || !this.slots.isHalfFree(waiting)) return;
    this.waitingForOwn.delete(targetKeyOf(target));
    this.wakeWaiting(waiting);
  }

  /**
   * Plans one pass over the waiting targets, for all slots that are released in this turn of the event loop.
   */
  private planPass(): void {
    if (this.isPassPlanned) return;
    this.isPassPlanned = true;
    setImmediate(() => {
      this.isPassPlanned = false;
      for (let visits = Math.min(VISITS_PER_PASS, this.waitingForShared.size); visits > 0; visits--) {
        const target = this.waitingForShared.next()!;
        if (this.slots.countFree(target) > 0) this.wakeWaiting(target);
        else this.wait(target);
      }
      this.released();
    });
  }

  private wakeWaiting(target: Target): void {
    if (target.isBackground) this.slots.setBackgroundWaiting(target.id, false);
    if (this.stopping) this.wakeOtherWorkers([target]);
    else this.wake([target]);
  }

  /** Wakes other workers, which may have free slots, at most once a second for a target. */
  private wakeOthersThrottled(target: Target): void {
    const key = targetKeyOf(target);
    if (this.othersWokenFor.has(key)) return;
    if (this.othersWokenFor.size === 0) {
      setTimeout(() => this.othersWokenFor.clear(), WAKE_OTHERS_EVERY_MS).unref();
    }
    this.othersWokenFor.add(key);
    this.wakeOtherWorkers([target]);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
