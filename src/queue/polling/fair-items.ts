/**
 * Milliseconds for which an item pauses after a step that failed or had to wait for other work. After each
 * further such step in a row, the pause is twice as long, up to a limit.
 */
const FIRST_REST_MS = 500;
/** Longest pause in milliseconds of an item whose last step had to wait for other work. */
const LONGEST_WAIT_MS = 3_000;
/** Longest pause in milliseconds of an item whose last step failed. */
const LONGEST_REST_MS = 60_000;
/** Largest number of items of one workspace that wait for their next step. */
const MAX_OF_WORKSPACE = 1_000;
const MAX_ITEMS = 100_000;
const MAX_RESTS = 10_000;

/** Piece of work that is done in steps, such as a recovery. The values of all its fields identify it. */
export interface WorkItem {
  tenantId: string;
}

/** Result of a step of an item: more can be done now, nothing is left, or it must wait for other work. */
export type StepOutcome = 'more' | 'done' | 'waiting';

interface Rest {
  /** Time of `performance.now()`, in milliseconds, at which the item's pause ends. */
  until: number;
  times: number;
  /** Divisor of the size of the item's next step. It doubles after a failure and halves after a success. */
  divisor: number;
}

/**
 * Queue of items (pieces of work) that wait for their next step. Workspaces take turns, and so do the items
 * of one workspace. If a step fails or ends with `waiting`, its item leaves the queue and pauses. `add`
 * ignores an item until its pause has ended.
 */
export class FairItems<Item extends WorkItem> {
  /** Waiting items by workspace and key. The first item of a workspace gets the workspace's next step. */
  private readonly waiting = new Map<string, Map<string, Item>>();
  /** Workspaces that have waiting items, but no item in a step now. The first of them gets the next step. */
  private readonly turns = new Set<string>();
  private readonly rests = new Map<string, Rest>();
  private count = 0;

  get hasNext(): boolean {
    return this.turns.size > 0;
  }

  /** Adds an item, unless it waits or pauses, or too many items wait. The periodic search finds it again. */
  add(item: Item): void {
    const key = keyOf(item);
    const items = this.waiting.get(item.tenantId) ?? new Map<string, Item>();
    if (items.has(key) || items.size >= MAX_OF_WORKSPACE || this.count >= MAX_ITEMS) return;
    if ((this.rests.get(key)?.until ?? 0) > performance.now()) return;
    if (items.size === 0) this.turns.add(item.tenantId);
    this.waiting.set(item.tenantId, items.set(key, item));
    this.count++;
  }

  /**
   * Returns the item that gets the next step; undefined if no workspace may begin one. The item's workspace
   * may begin no other step until `putBack` was called with the item.
   */
  takeNext(): Item | undefined {
    const [tenantId] = this.turns;
    if (tenantId === undefined) return undefined;
    this.turns.delete(tenantId);
    return this.waiting.get(tenantId)!.values().next().value;
  }

  /** Returns the size of an item's next step: less than `full` after failed steps, but at least 1. */
  sizeOf(item: Item, full: number): number {
    return Math.max(1, Math.floor(full / (this.rests.get(keyOf(item))?.divisor ?? 1)));
  }

  /** Reports the outcome of an item's step. If the outcome is `more`, the item waits for its next step. */
  putBack(item: Item, outcome: StepOutcome | 'failed'): void {
    const key = keyOf(item);
    const items = this.waiting.get(item.tenantId)!;
    items.delete(key);
    if (outcome === 'more') items.set(key, item);
    else this.count--;
    if (items.size > 0) this.turns.add(item.tenantId);
    else this.waiting.delete(item.tenantId);
    this.setRest(key, outcome);
  }

  private setRest(key: string, outcome: StepOutcome | 'failed'): void {
    const { times, divisor } = this.rests.get(key) ?? { times: 0, divisor: 1 };
    this.rests.delete(key);
    if (outcome === 'more' && divisor > 2) this.rests.set(key, { until: 0, times: 0, divisor: divisor / 2 });
    if (outcome === 'more' || outcome === 'done') return;
    const isFailure = outcome === 'failed';
    const ms = Math.min(FIRST_REST_MS * 2 ** times, isFailure ? LONGEST_REST_MS : LONGEST_WAIT_MS);
    this.rests.set(key, {
      until: performance.now() + ms,
      times: times + 1,
      divisor: isFailure ? divisor * 2 : divisor,
    });
    if (this.rests.size > MAX_RESTS) this.rests.delete(this.rests.keys().next().value!);
  }
}

function keyOf(item: WorkItem): string {
  return Object.values(item).join();
}
