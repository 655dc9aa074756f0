import { Room } from './room';

/**
 * Serves one target (an endpoint, a connection) for a turn: claims what is due, as far as there is room, and starts it
 * side by side. A turn waits for nothing that it starts, so that a slow target holds up neither others nor its own next
 * wake-up.
 */
export abstract class TurnDispatcher<Claimed> {
  /** Turns, and what they started, that have not ended. */
  private readonly active = new Set<Promise<void>>();
  private stopping = false;

  protected constructor(private readonly room: Room) {}

  /** Whether claiming is vain for now, however much is due. */
  protected abstract isPaused(id: string): boolean;

  /** Up to `count` of what is due to a target, under a lease. */
  protected abstract claim(id: string, count: number): Promise<Claimed[]>;

  /** Carries one thing through to its record. Whatever goes wrong is its own to report: it never rejects. */
  protected abstract carryThrough(id: string, claimed: Claimed): Promise<void>;

  /** Asks for another turn of targets. */
  protected abstract wake(ids: string[]): void;

  hasRoom(id: string): boolean {
    return !this.isPaused(id) && this.room.of(id) > 0;
  }

  /** Settles when everything that may be started is started. */
  serve(id: string): Promise<void> {
    return this.track(this.takeTurn(id));
  }

  /** Takes nothing new; settles when all that is under way is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  protected get isStopping(): boolean {
    return this.stopping;
  }

  private async takeTurn(id: string): Promise<void> {
    while (!this.stopping && this.hasRoom(id)) {
      const room = this.room.of(id);
      const claimed = await this.claimInRoom(id, room);
      for (const one of claimed) void this.track(this.start(id, one));
      if (claimed.length < room) return;
    }
    this.room.miss(id);
  }

  /** Takes the room before it claims, so that two turns of one target can't both fill it. */
  private async claimInRoom(id: string, count: number): Promise<Claimed[]> {
    this.room.take(id, count);
    let claimed: Claimed[] = [];
    try {
      claimed = await this.claim(id, count);
      return claimed;
    } finally {
      this.room.free(id, count - claimed.length);
    }
  }

  /** What was claimed has its room already, and makes it free for whoever has missed some. */
  private async start(id: string, claimed: Claimed): Promise<void> {
    try {
      await this.carryThrough(id, claimed);
    } finally {
      this.room.free(id, 1);
      const missed = this.room.takeMissed(id);
      if (missed.length > 0) this.wake(missed);
    }
  }

  private track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
