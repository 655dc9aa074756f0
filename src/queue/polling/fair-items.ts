/** Milliseconds of an item's first rest. Each further one in a row is twice as long, up to a limit. */
const FIRST_REST_MS = 500;
/** Limit of the rest of an item that waits for others. */
const LONGEST_WAIT_MS = 3_000;
/** Limit of the rest of an item whose steps fail. */
const LONGEST_REST_MS = 60_000;
/** Limits of the items that wait, of one workspace and of all, and of the items that rest. */
const MAX_OF_WORKSPACE = 1_000;
const MAX_ITEMS = 100_000;
const MAX_RESTS = 10_000;

/** Thing that work is done on in steps. Its values are ids that name it. */
export interface WorkItem {
  tenantId: string;
}

/** End of a step: there may be more to do now, there is no more, or the item waits for others. */
export type StepOutcome = 'more' | 'done' | 'waiting';

/** Rest of an item after steps without success. */
interface Rest {
  /** Time of its end, on the monotonic clock. */
  until: number;
  /** Number of rests in a row. */
  times: number;
  /** Number by which the size of a step is divided, because recent steps have failed. */
  divisor: number;
}

/**
 * Items that wait for a step. Workspaces take turns, and so do the items of each. An item that fails or waits
 * rests, so that it takes no turn from others; searches pass over it in the meantime.
 */
export class FairItems<Item extends WorkItem> {
  /** Items by their keys, by their workspaces. The first of each is the next. */
  private readonly waiting = new Map<string, Map<string, Item>>();
  /** Workspaces without a step under way. The first has the next turn. */
  private readonly turns = new Set<string>();
  private readonly rests = new Map<string, Rest>();
  private count = 0;

  get hasNext(): boolean {
    return this.turns.size > 0;
  }

  /** Adds an item, unless it is there, rests, or too many wait: then a later search finds it again. */
  add(item: Item): void {
    const key = keyOf(item);
    const items = this.waiting.get(item.tenantId) ?? new Map<string, Item>();
    if (items.has(key) || items.size >= MAX_OF_WORKSPACE || this.count >= MAX_ITEMS) return;
    if ((this.rests.get(key)?.until ?? 0) > performance.now()) return;
    if (items.size === 0) this.turns.add(item.tenantId);
    this.waiting.set(item.tenantId, items.set(key, item));
    this.count++;
  }

  /** Takes the next item. Its workspace has no other turn before `putBack`. */
  takeNext(): Item | undefined {
    const [tenantId] = this.turns;
    if (tenantId === undefined) return undefined;
    this.turns.delete(tenantId);
    return this.waiting.get(tenantId)!.values().next().value;
  }

  /** Returns the size of an item's next step: less than the full one after steps that failed. */
  sizeOf(item: Item, full: number): number {
    return Math.max(1, Math.floor(full / (this.rests.get(keyOf(item))?.divisor ?? 1)));
  }

  /** Puts back an item whose step has ended. It waits again if there is more to do now. */
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
