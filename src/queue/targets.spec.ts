import { Target } from './targets';
import { Turns } from './targets';

const target = (tenantId: string, id: string, isBackground?: boolean): Target => ({
  tenantId,
  id,
  isBackground,
});

function take(turns: Turns, count = turns.size): string[] {
  return Array.from({ length: count }, () => turns.next()!).map(({ id, isBackground }) =>
    isBackground ? `${id} (background)` : id,
  );
}

describe('Turns', () => {
  let turns: Turns;
  beforeEach(() => {
    turns = new Turns();
  });

  it('go from workspace to workspace, and within each to the longest waiting', () => {
    for (const id of ['a1', 'a2', 'a3']) turns.add(target('a', id));
    turns.add(target('b', 'b1'));
    for (const id of ['c1', 'c2']) turns.add(target('c', id));
    expect(take(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(turns.next()).toBeUndefined();
  });

  it('put a workspace that had its turn behind one that comes later', () => {
    for (const id of ['a1', 'a2', 'a3']) turns.add(target('a', id));
    expect(take(turns, 1)).toEqual(['a1']);
    turns.add(target('b', 'b1'));
    expect(take(turns)).toEqual(['a2', 'b1', 'a3']);
  });

  it('have each target once, its live and its background work apart', () => {
    for (let n = 0; n < 3; n++) turns.add(target('a', 'a1'));
    turns.add(target('a', 'a1', true));
    expect(turns.size).toBe(2);
    expect(take(turns)).toEqual(['a1', 'a1 (background)']);
  });

  it('have a target again after its turn', () => {
    turns.add(target('a', 'a1'));
    expect(take(turns, 1)).toEqual(['a1']);
    expect(turns.has(target('a', 'a1'))).toBe(false);
    turns.add(target('a', 'a1'));
    expect(turns.has(target('a', 'a1'))).toBe(true);
    expect(take(turns)).toEqual(['a1']);
  });

  it('end for a target that is deleted', () => {
    turns.add(target('a', 'a1'));
    turns.add(target('b', 'b1'));
    expect(turns.delete(target('a', 'a1'))).toBe(true);
    expect(turns.delete(target('a', 'a1'))).toBe(false);
    expect(turns.delete(target('nobody', 'a1'))).toBe(false);
    expect(turns.size).toBe(1);
    expect(take(turns)).toEqual(['b1']);
  });
});
