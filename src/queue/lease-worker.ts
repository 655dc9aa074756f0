import { Logger } from '@nestjs/common';
import { ConcurrencyLimiter } from './concurrency-limiter';

/** Turns are short: they claim and start, and never wait for what they started. */
export const TURNS_AT_ONCE = 20;
/** How often other processes are asked, at most, to help with one target. */
const SHARE_EVERY_MS = 1_000;

/**
 * Serves targets (endpoints, connections) in turns. A turn claims what is due to one, as far as there is room, and
 * starts it side by side. It waits for nothing that it starts, so that a slow target holds up neither others nor its own
 * next turn.
 */
export abstract class LeaseWorker<Claimed> {
  private readonly turnsLogger = new Logger(this.constructor.name);
  /** Turns, and what they started, that have not ended. */
  private readonly active = new Set<Promise<unknown>>();
  /** Targets whose turn is to come, the longest waiting first. */
  private readonly called = new Set<string>();
  private callersServed = 0;
  /** Targets that other processes have been asked to help with, lately. */
  private readonly shared = new Set<string>();
  private stopping = false;

  protected constructor(private readonly room: ConcurrencyLimiter) {}

  /** Whether claiming is vain for now, however much is due. */
  protected abstract isPaused(id: string): boolean;

  /** Up to `count` of what is due to a target, under a lease. */
  protected abstract claim(id: string, count: number): Promise<Claimed[]>;

  /** Carries one thing through to its record. Whatever goes wrong is its own to report: it never rejects. */
  protected abstract process(id: string, claimed: Claimed): Promise<void>;

  /** Asks all processes for a turn of targets: whichever comes first takes it. */
  protected abstract share(ids: string[]): void;

  hasRoom(id: string): boolean {
    return !this.isPaused(id) && this.room.of(id) > 0;
  }

  /** Calls targets to a turn in this process. However often one is called before its turn, it has one. */
  call(ids: Iterable<string>): void {
    for (const id of ids) this.called.add(id);
    while (this.called.size > 0 && this.callersServed < TURNS_AT_ONCE) void this.serveCalled();
  }

  /** Settles when everything that may be started is started. */
  serve(id: string): Promise<void> {
    return this.track(this.takeTurn(id));
  }

  /**
   * Takes up to `wanted` of a target's places for what the caller claims in its own way; none while something older
   * waits for one. Then `fill` must follow at once.
   */
  reserve(id: string, wanted: number): number {
    if (this.stopping || this.isPaused(id) || this.called.has(id) || this.room.hasMissed(id)) return 0;
    const places = Math.min(wanted, this.room.of(id));
    this.room.take(id, places);
    return places;
  }

  /**
   * Starts, once it is claimed, what so many places were taken for. Those that it leaves empty are free again.
   * @param claiming never rejects: what could not be claimed is nothing
   */
  fill(id: string, places: number, claiming: Promise<Claimed[]>): void {
    void this.track(this.startClaimed(id, places, claiming));
  }

  /** Takes nothing new; settles when all that is under way is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  protected get isStopping(): boolean {
    return this.stopping;
  }

  private async serveCalled(): Promise<void> {
    this.callersServed += 1;
    for (const id of this.called) {
      this.called.delete(id);
      await this.serve(id).catch((error: Error) =>
        this.turnsLogger.error({ err: error, id }, 'a turn failed; the sweeper will come back to it'),
      );
    }
    this.callersServed -= 1;
  }

  private async takeTurn(id: string): Promise<void> {
    while (!this.stopping && this.hasRoom(id)) {
      const room = this.room.of(id);
      // Before it claims, so that two turns of one target can't both fill it.
      this.room.take(id, room);
      const claimed = await this.startClaimed(id, room, this.claim(id, room));
      if (claimed.length < room) return;
    }
    // It is woken when its pause ends: meanwhile the place that it can't use is for another.
    if (this.isPaused(id)) return;
    this.room.miss(id);
    this.askForHelp(id);
  }

  /** Starts what comes of a claim for which so many places were taken; those that it leaves empty are free again. */
  private async startClaimed(id: string, places: number, claiming: Promise<Claimed[]>): Promise<Claimed[]> {
    let claimed: Claimed[] = [];
    try {
      claimed = await claiming;
    } finally {
      this.free(id, places - claimed.length);
    }
    for (const one of claimed) void this.track(this.start(id, one));
    return claimed;
  }

  /** What was claimed has its room already. */
  private async start(id: string, claimed: Claimed): Promise<void> {
    try {
      await this.process(id, claimed);
    } finally {
      this.free(id, 1);
    }
  }

  /** Makes room, for whoever has missed some. */
  private free(id: string, places: number): void {
    if (places === 0) return;
    this.room.free(id, places);
    const missed = this.room.takeMissed(id);
    if (missed.length === 0) return;
    if (this.stopping) this.share(missed);
    else this.call(missed);
  }

  /** There may be more than this process has room for, and others may have some. */
  private askForHelp(id: string): void {
    if (this.shared.has(id)) return;
    if (this.shared.size === 0) setTimeout(() => this.shared.clear(), SHARE_EVERY_MS).unref();
    this.shared.add(id);
    this.share([id]);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
