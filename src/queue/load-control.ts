import { StartCapacity } from './start-capacity';

const SAMPLE_MS = 20;
/** Weight of the latest sample, low so that one pause of the garbage collector changes little. */
const WEIGHT = 0.2;
const SHRINK = 0.8;
const MIN_SLOTS = 32;

/**
 * Rule for the number of slots: it shrinks while the event loop is later than `maxLagMs`. Otherwise it is
 * multiplied by `grow` every 20 ms.
 */
interface Pace {
  maxLagMs: number;
  grow: number;
}

/** Rule for throughput: above this delay, more items in flight wait for this process, not for receivers. */
const USUAL: Pace = { maxLagMs: 10, grow: 1.1 };
/** Rule for the low latency of workspaces that send little while another workspace sends much. */
const CROWDED: Pace = { maxLagMs: 3, grow: 1.02 };

/**
 * Lowers the number of slots while the event loop is late, and raises it while the event loop is on time.
 * More items in flight make a busy process no faster, and delay all later items of every workspace. While
 * workspaces with a backlog use most slots and others send little, the limits of delay are stricter.
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
