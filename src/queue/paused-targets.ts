import { Target } from './target';

/**
 * Time for which a target is paused whose secret can't be decrypted. It is paused again until an operator
 * restores the key.
 */
export const UNREADABLE_PAUSE_MS = 60_000;

/**
 * Remembers the targets for which a claim would only postpone the work. Live and background work pause
 * together.
 */
export class PausedTargets {
  /** Ends of the pauses by target id, in milliseconds of this process's clock. */
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
