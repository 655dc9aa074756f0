/**
 * Milliseconds of an item's first rest: a pause after a step that failed or had to wait for other work. Each
 * further rest in a row is twice as long, up to a limit.
 */
const FIRST_REST_MS = 500;
/** Longest pause in milliseconds of an item whose last step ended with `waiting`. */
const LONGEST_WAIT_MS = 3_000;
/** Longest pause in milliseconds of an item whose last step failed. */
const LONGEST_REST_MS = 60_000;
/** Largest numbers of waiting items of one workspace, of all waiting items, and of pausing items. */
const MAX_OF_WORKSPACE = 1_000;
const MAX_ITEMS = 100_000;
const MAX_RESTS = 10_000;

/** Thing that is worked on in steps, such as a recovery. All its values together identify it. */
export interface WorkItem {
  tenantId: string;
}

/** Result of a step: the item has more to do now, has no more to do, or waits for other work. */
export type StepOutcome = 'more' | 'done' | 'waiting';

interface Rest {
  /** End of the pause in milliseconds of `performance.now()`. */
  until: number;
  times: number;
  /** Divisor of the step's size. It doubles after each failure and halves after each success. */
  divisor: number;
}

/**
 * Queue of items that wait for a step. Workspaces take turns, and so do the items within a workspace. An item
 * whose step failed or ended with `waiting` pauses: until the end of its pause, `add` ignores it.
 */
export class FairItems<Item extends WorkItem> {
  /** Items by workspace and key. The first item of a workspace is its next one. */
  private readonly waiting = new Map<string, Map<string, Item>>();
  /** Workspaces with waiting items of which no item is in a step. The first workspace has the next turn. */
  private readonly turns = new Set<string>();
  private readonly rests = new Map<string, Rest>();
  private count = 0;

  get hasNext(): boolean {
    return this.turns.size > 0;
  }

  /** Adds an item. Ignores it if it waits or pauses, or too many wait: a later search finds it again. */
  add(item: Item): void {
    const key = keyOf(item);
    const items = this.waiting.get(item.tenantId) ?? new Map<string, Item>();
    if (items.has(key) || items.size >= MAX_OF_WORKSPACE || this.count >= MAX_ITEMS) return;
    if ((this.rests.get(key)?.until ?? 0) > performance.now()) return;
    if (items.size === 0) this.turns.add(item.tenantId);
    this.waiting.set(item.tenantId, items.set(key, item));
    this.count++;
  }

  /** Returns the next item. Its workspace gets no other turn before `putBack`. */
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

  /** Ends the turn of an item after its step. The item waits for another turn if the outcome is `more`. */
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
