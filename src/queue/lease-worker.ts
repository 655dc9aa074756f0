import type { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartCapacity } from './start-capacity';
import { targetKeyOf, Target } from './targets';

export const CONCURRENT_CLAIMS = 20;
const WAKE_OTHERS_EVERY_MS = 1_000;
/** Largest number of targets for which other workers are woken in WAKE_OTHERS_EVERY_MS. */
const MAX_OTHERS_WOKEN = 1_000;
/** Milliseconds after which the worker begins another claim although the current one has not ended. */
const CLAIM_PATIENCE_MS = 1_000;

interface LeaseWork<Claimed> {
  readonly logger: Logger;
  claim(target: Target, count: number): Promise<Claimed[]>;
  /** Processes one item and records its outcome. Never rejects. */
  process(target: Target, claimed: Claimed): Promise<void>;
  /** Adds a job for a target, so that any worker may claim its items. */
  wakeOtherWorkers(target: Target): void;
}

/**
 * Claims the due items of targets (endpoints or connections), as many as free slots allow, and processes them
 * concurrently. The next claim does not wait until claimed items are processed, so a slow target does not
 * delay other targets.
 */
export class LeaseWorker<Claimed> {
  private readonly active = new Set<Promise<unknown>>();
  private claims = 0;
  /** Keys of targets for which other workers were woken within the last second. */
  private readonly othersWokenFor = new Set<string>();
  private stopping = false;

  constructor(
    private readonly capacity: StartCapacity,
    private readonly work: LeaseWork<Claimed>,
  ) {
    capacity.onRelease(() => this.claimForWaiting());
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Makes this process claim due items of targets. Several calls for a target may lead to one claim. */
  wake(targets: Target[]): void {
    const added = targets.filter((target) => !this.capacity.isWaiting(target));
    this.capacity.addWaiting(added);
    this.claimForWaiting();
    for (const target of added)
      if (this.capacity.isWaiting(target) && !this.capacity.hasRoom(target)) this.wakeOthersThrottled(target);
  }

  /**
   * Starts the items to which `claim` resolves, in slots that the caller has acquired. Releases the slots for
   * which there is no item: all of them if `claim` rejects.
   */
  start(target: Target, slots: number, claim: Promise<Claimed[]>): void {
    // The caller handles a rejection of `claim`, so it is ignored here.
    void this.track(this.startClaimed(target, slots, claim)).catch(() => undefined);
  }

  /** Stops claiming. Resolves when the outcome of every claimed item is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    this.capacity.close();
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  private claimForWaiting(): void {
    while (this.claims < CONCURRENT_CLAIMS) {
      const target = this.capacity.nextWaiting();
      if (!target) return;
      if (this.stopping) this.work.wakeOtherWorkers(target);
      else void this.claimPatiently(target);
    }
  }

  /** Claims for a target. The next claim may begin after one second even if this one has not ended. */
  private async claimPatiently(target: Target): Promise<void> {
    this.claims += 1;
    const claim = this.track(this.claimUntilFull(target)).catch((error: Error) =>
      this.logFailure(target, error),
    );
    const ended = new AbortController();
    await Promise.race([claim, sleep(CLAIM_PATIENCE_MS, undefined, { signal: ended.signal })]);
    ended.abort();
    this.claims -= 1;
    this.claimForWaiting();
  }

  private logFailure({ tenantId, id }: Target, error: Error): void {
    this.work.logger.error({ err: error, tenantId, id }, 'claiming failed; the poll will retry it');
  }

  /** Claims a target's items until none is due or no slot is free, and starts each item. */
  private async claimUntilFull(target: Target): Promise<void> {
    for (;;) {
      const slots = this.stopping ? 0 : this.capacity.acquire(target);
      if (slots === 0) break;
      const claimed = await this.startClaimed(target, slots, this.work.claim(target, slots));
      if (claimed.length < slots) return;
    }
    // A paused target need not wait for a slot, because it is woken at the end of the pause.
    if (this.capacity.isPaused(target)) return;
    this.wake([target]);
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
      this.capacity.release(target, slots - claimed.length);
    }
    for (const one of claimed) void this.track(this.processInSlot(target, one));
    return claimed;
  }

  private async processInSlot(target: Target, claimed: Claimed): Promise<void> {
    try {
      await this.work.process(target, claimed);
    } finally {
      this.capacity.release(target, 1);
    }
  }

  /** Wakes other workers for a target, at most once a second, because they may have free slots. */
  private wakeOthersThrottled(target: Target): void {
    const key = targetKeyOf(target);
    if (this.othersWokenFor.has(key) || this.othersWokenFor.size >= MAX_OTHERS_WOKEN) return;
    if (this.othersWokenFor.size === 0) {
      setTimeout(() => this.othersWokenFor.clear(), WAKE_OTHERS_EVERY_MS).unref();
    }
    this.othersWokenFor.add(key);
    this.work.wakeOtherWorkers(target);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
