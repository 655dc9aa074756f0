import { Slots } from './slots';

const SAMPLE_MS = 20;
/** Weight of the latest sample, so that one pause of the garbage collector changes little. */
const WEIGHT = 0.2;
/** Delay of the event loop above which work in flight waits for this process rather than for receivers. */
const MAX_LAG_MS = 10;
const SHRINK = 0.8;
const GROW = 1.1;
const MIN_SLOTS = 32;

/**
 * Gives fewer slots while the event loop is late, and more while it is not. More work in flight makes a busy
 * process no faster, but all later work of every workspace waits behind it.
 */
export class LoadControl {
  private dueAt = 0;
  private lagMs = 0;

  private readonly maxSlots: number;

  constructor(private readonly slots: Slots) {
    this.maxSlots = slots.total;
  }

  start(): void {
    this.dueAt = performance.now() + SAMPLE_MS;
    setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  private sample(): void {
    const now = performance.now();
    this.lagMs += WEIGHT * (Math.max(0, now - this.dueAt) - this.lagMs);
    this.dueAt = now + SAMPLE_MS;
    const { total, used } = this.slots;
    if (this.lagMs > MAX_LAG_MS)
      this.slots.total = Math.min(total, Math.max(MIN_SLOTS, Math.floor(used * SHRINK)));
    else if (total < this.maxSlots) this.slots.total = Math.min(this.maxSlots, Math.ceil(total * GROW));
  }
}
