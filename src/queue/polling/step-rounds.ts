import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Time for which an item is left alone that failed, or that had nothing to do. It is shorter than the time
 * between two polls.
 */
const REST_MS = 500;

/** Work on many items in small steps. */
export interface SteppedWork<Item> {
  /** Size of a step, and of the smaller ones after a step that failed. */
  size: number;
  /** Pause between steps, so that they slow no other work. */
  pauseMs: number;
  /** Number of items whose steps run side by side; 1 by default. */
  sideBySide?: number;
  list(): Promise<Item[]>;
  keyOf(item: Item): string;
  /** Makes a step of an item, and returns whether there may be more to do now. */
  step(item: Item, size: number): Promise<boolean>;
  onError(item: Item, error: Error, size: number): void;
}

/**
 * Runs work in rounds, each with one step of each item. So a big item delays no other, and one that waits or
 * fails ends nobody else's round.
 */
export class StepRounds<Item> {
  private readonly restsUntil = new Map<string, number>();
  /** Sizes of steps, by item, that are reduced because a recent step has failed. */
  private readonly reduced = new Map<string, number>();

  constructor(private readonly work: SteppedWork<Item>) {}

  /** Runs rounds until one of them finds nothing to do. */
  async run(isStopped: () => boolean): Promise<void> {
    const { sideBySide = 1, pauseMs } = this.work;
    for (let isWorking = true; isWorking && !isStopped();) {
      isWorking = false;
      // Each of those side by side takes the next item that none has taken.
      const items = (await this.listReady()).values();
      const takeSteps = async (): Promise<void> => {
        for (const item of items) {
          if (isStopped()) return;
          if (await this.tryStep(item)) isWorking = true;
          else this.restsUntil.set(this.work.keyOf(item), performance.now() + REST_MS);
          if (pauseMs > 0) await sleep(pauseMs);
        }
      };
      await Promise.all(Array.from({ length: sideBySide }, takeSteps));
    }
  }

  private async listReady(): Promise<Item[]> {
    const now = performance.now();
    for (const [key, until] of this.restsUntil) if (until <= now) this.restsUntil.delete(key);
    return (await this.work.list()).filter((item) => !this.restsUntil.has(this.work.keyOf(item)));
  }

  private async tryStep(item: Item): Promise<boolean> {
    const key = this.work.keyOf(item);
    const size = this.reduced.get(key) ?? this.work.size;
    try {
      const isUnfinished = await this.work.step(item, size);
      if (size * 2 < this.work.size && isUnfinished) this.reduced.set(key, size * 2);
      else this.reduced.delete(key);
      return isUnfinished;
    } catch (error) {
      this.reduced.set(key, Math.max(1, Math.floor(size / 2)));
      this.work.onError(item, error as Error, size);
      return false;
    }
  }
}
