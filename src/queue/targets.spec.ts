import { Target, FairQueue } from './targets';

const target = (tenantId: string, id: string, isBackground?: boolean): Target => ({
  tenantId,
  id,
  isBackground,
});

function take(queue: FairQueue, count = queue.size): string[] {
  return Array.from({ length: count }, () => queue.next()!).map(({ id, isBackground }) =>
    isBackground ? `${id} (background)` : id,
  );
}

describe('FairQueue', () => {
  let queue: FairQueue;
  beforeEach(() => {
    queue = new FairQueue();
  });

  it('goes from workspace to workspace, and within each to the longest waiting', () => {
    for (const id of ['a1', 'a2', 'a3']) queue.add(target('a', id));
    queue.add(target('b', 'b1'));
    for (const id of ['c1', 'c2']) queue.add(target('c', id));
    expect(take(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(queue.next()).toBeUndefined();
  });

  it('puts a workspace that had its turn behind one that comes later', () => {
    for (const id of ['a1', 'a2', 'a3']) queue.add(target('a', id));
    expect(take(queue, 1)).toEqual(['a1']);
    queue.add(target('b', 'b1'));
    expect(take(queue)).toEqual(['a2', 'b1', 'a3']);
  });

  it('has each target once, its live and its background work apart', () => {
    for (let n = 0; n < 3; n++) queue.add(target('a', 'a1'));
    queue.add(target('a', 'a1', true));
    expect(queue.size).toBe(2);
    expect(take(queue)).toEqual(['a1', 'a1 (background)']);
  });

  it('has a target again after its turn', () => {
    queue.add(target('a', 'a1'));
    expect(take(queue, 1)).toEqual(['a1']);
    expect(queue.has(target('a', 'a1'))).toBe(false);
    queue.add(target('a', 'a1'));
    expect(queue.has(target('a', 'a1'))).toBe(true);
    expect(take(queue)).toEqual(['a1']);
  });

  it('ends for a target that is deleted', () => {
    queue.add(target('a', 'a1'));
    queue.add(target('b', 'b1'));
    expect(queue.delete(target('a', 'a1'))).toBe(true);
    expect(queue.delete(target('a', 'a1'))).toBe(false);
    expect(queue.delete(target('nobody', 'a1'))).toBe(false);
    expect(queue.size).toBe(1);
    expect(take(queue)).toEqual(['b1']);
  });
});
