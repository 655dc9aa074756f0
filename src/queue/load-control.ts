import { StartCapacity } from './start-capacity';

const SAMPLE_MS = 20;
/** Weight of the latest sample, so that one pause of the garbage collector changes little. */
const WEIGHT = 0.2;
const SHRINK = 0.8;
const MIN_SLOTS = 32;

/** Delay of the event loop above which the slots shrink, and the factor of their growth a sample below it. */
interface Pace {
  maxLagMs: number;
  grow: number;
}

/** Pace for throughput: above this delay, work in flight waits for this process rather than for receivers. */
const USUAL: Pace = { maxLagMs: 10, grow: 1.1 };
/** Pace for the latency of those who find slots at once: their work waits for each tick of the event loop. */
const CROWDED: Pace = { maxLagMs: 3, grow: 1.02 };

/**
 * Gives fewer slots while the event loop is late, and more while it is not. More work in flight makes a busy
 * process no faster, but all later work of every workspace waits behind it. While a workspace with a backlog
 * uses most slots, and others have little to send, it gets fewer still.
 */
export class LoadControl {
  private dueAt = 0;
  private lagMs = 0;
  private readonly maxSlots: number;

  constructor(private readonly capacity: StartCapacity) {
    this.maxSlots = capacity.slots.total;
  }

  start(): void {
    this.dueAt = performance.now() + SAMPLE_MS;
    setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  private sample(): void {
    const now = performance.now();
    this.lagMs += WEIGHT * (Math.max(0, now - this.dueAt) - this.lagMs);
    this.dueAt = now + SAMPLE_MS;
    const { slots, isCrowded } = this.capacity;
    const { maxLagMs, grow } = isCrowded ? CROWDED : USUAL;
    if (this.lagMs > maxLagMs)
      slots.total = Math.min(slots.total, Math.max(MIN_SLOTS, Math.floor(slots.used * SHRINK)));
    else if (slots.total < this.maxSlots)
      slots.total = Math.min(this.maxSlots, Math.ceil(slots.total * grow));
  }
}
