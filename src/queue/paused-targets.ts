import { Target } from './target';

/** How long a target is paused whose secret can't be decrypted, until an operator restores the key. */
export const UNREADABLE_PAUSE_MS = 60_000;

/** Remembers for which targets claiming would only postpone, and until when. Live and background work pause together. */
export class PausedTargets {
  /** Times of this process's clock, in milliseconds, by target id. */
  private readonly pausedUntil = new Map<string, number>();

  pause({ id }: Target, delayMs: number): void {
    this.pausedUntil.set(id, Date.now() + delayMs);
  }

  isPaused({ id }: Target): boolean {
    const until = this.pausedUntil.get(id);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(id);
    return false;
  }
}
