import { FairItems } from './fair-items';

interface Item {
  tenantId: string;
  id: string;
}

describe('items that wait for a step', () => {
  let items: FairItems<Item>;
  const add = (...names: string[]) => names.forEach((name) => items.add(itemOf(name)));
  const itemOf = (name: string) => ({ tenantId: name[0]!, id: name });

  /** Takes items, and has each end as `outcomeOf` says. */
  function takeAll(outcomeOf: (item: Item) => 'more' | 'done' | 'waiting' | 'failed', limit = 20): string[] {
    const taken: string[] = [];
    for (let item = items.takeNext(); item; item = taken.length < limit ? items.takeNext() : undefined) {
      taken.push(item.id);
      items.putBack(item, outcomeOf(item));
    }
    return taken;
  }

  beforeEach(() => {
    jest.useFakeTimers();
    items = new FairItems();
  });
  afterEach(() => jest.useRealTimers());

  it('have turns by workspace, and then by item', () => {
    add('a1', 'a2', 'a3', 'b1');
    expect(takeAll(() => 'more', 6)).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1']);
  });

  it('have no step at the same time as another of their workspace', () => {
    add('a1', 'a2', 'b1');
    const first = items.takeNext()!;
    expect([items.takeNext()?.id, items.takeNext()]).toEqual(['b1', undefined]);
    items.putBack(first, 'done');
    expect(items.takeNext()?.id).toBe('a2');
  });

  it('wait once, also while their step runs', () => {
    add('a1', 'a1');
    const item = items.takeNext()!;
    add('a1');
    items.putBack(item, 'done');
    expect(items.hasNext).toBe(false);
    add('a1');
    expect(items.hasNext).toBe(true);
  });

  it('rest after a failure for twice as long each time, up to a minute', () => {
    const rests: number[] = [];
    for (let n = 0; n < 10; n++) {
      for (rests[n] = 0; !items.hasNext; rests[n]! += 250) {
        jest.advanceTimersByTime(250);
        add('a1');
      }
      takeAll(() => 'failed');
    }
    expect(rests.slice(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('rest for three seconds at most when they wait for others, and begin anew after a success', () => {
    const isThereAfter = (ms: number) => {
      jest.advanceTimersByTime(ms);
      add('a1');
      return items.hasNext;
    };
    add('a1');
    for (let n = 0; n < 8; n++) {
      takeAll(() => 'waiting');
      isThereAfter(3_000);
    }
    takeAll(() => 'done');
    add('a1');
    takeAll(() => 'waiting');
    expect([isThereAfter(499), isThereAfter(1)]).toEqual([false, true]);
  });

  it('have smaller steps after each failure, and larger ones again after each success', () => {
    const sizes: number[] = [];
    const step = (outcome: 'more' | 'failed') => {
      jest.advanceTimersByTime(60_000);
      add('a1');
      sizes.push(items.sizeOf(itemOf('a1'), 5));
      items.putBack(items.takeNext()!, outcome);
    };
    for (let n = 0; n < 4; n++) step('failed');
    for (let n = 0; n < 5; n++) step('more');
    expect(sizes).toEqual([5, 2, 1, 1, 1, 1, 1, 2, 5]);
  });

  it('do not fill the list of another workspace, however many one has', () => {
    for (let n = 0; n < 5_000; n++) add(`a${n}`);
    add('b1');
    expect(takeAll(() => 'failed', 3)).toEqual(['a0', 'b1', 'a1']);
  });

  it('leave room for good ones of their workspace while they rest', () => {
    for (let n = 0; n < 1_000; n++) add(`a${n}`);
    add('a-good');
    expect(takeAll(() => 'failed', 2_000)).not.toContain('a-good');
    for (let n = 0; n < 1_000; n++) add(`a${n}`);
    add('a-good');
    expect(takeAll(() => 'done')).toEqual(['a-good']);
  });
});
