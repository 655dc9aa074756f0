import { HeldBytes } from './held-bytes';

describe('HeldBytes', () => {
  const held = new HeldBytes<string>(100);

  it('finds nobody as long as all together hold no more than the limit', () => {
    held.set('a', 40);
    held.set('b', 60);
    expect(held.findExcessive()).toBeNull();
  });

  it('finds who holds the most above it, whoever was last', () => {
    held.set('c', 1);
    expect(held.findExcessive()).toBe('b');
    held.set('a', 70);
    expect(held.findExcessive()).toBe('a');
  });

  it('counts what a holder has now, and forgets one that has nothing', () => {
    held.set('a', 0);
    expect(held.findExcessive()).toBeNull();
    held.set('a', 40);
    expect(held.findExcessive()).toBe('b');
  });
});
