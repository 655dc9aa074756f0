import { indexesIn, rangeInSight, rowsMoved } from './rows-in-sight';

describe('the rows in sight', () => {
  it('are those between the edges, with ten beyond each', () => {
    expect(rangeInSight({ scrollTop: 2_000, clientHeight: 600 }, 50)).toEqual({ begin: 30, end: 62 });
  });

  it('are also those that an edge cuts', () => {
    expect(rangeInSight({ scrollTop: 2_049, clientHeight: 602 }, 50)).toEqual({ begin: 30, end: 64 });
  });

  it('are no more than the list has', () => {
    expect(indexesIn({ begin: -10, end: 3 }, 100, -1)).toEqual([0, 1, 2]);
    expect(indexesIn({ begin: 97, end: 120 }, 100, -1)).toEqual([97, 98, 99]);
    expect(indexesIn({ begin: -10, end: 30 }, 0, -1)).toEqual([]);
  });

  it('have the pinned one among them, with its neighbours, each once and in order', () => {
    expect(indexesIn({ begin: 50, end: 52 }, 100, 7)).toEqual([6, 7, 8, 50, 51]);
    expect(indexesIn({ begin: 5, end: 8 }, 100, 8)).toEqual([5, 6, 7, 8, 9]);
    expect(indexesIn({ begin: 50, end: 52 }, 100, 0)).toEqual([0, 1, 50, 51]);
    expect(indexesIn({ begin: 50, end: 52 }, 100, 99)).toEqual([50, 51, 98, 99]);
  });
});

describe('rows that come or go', () => {
  const OLD = [...'abcdefghij'];
  it.each([
    ['above move those in sight down', 'xyabcdefghij', 2],
    ['below move nothing', 'abcdefghijxy', 0],
    ['from above move those in sight up', 'bcdefghij', -1],
    ['from among those in sight up to the top are not followed', 'dabcefghij', 1],
    ['from among those in sight out of the list move nothing', 'abcefghij', 0],
    ['until all are others move nothing', 'uvwxyz', 0],
  ])('%s', (_, ids, moved) => {
    expect(rowsMoved(OLD, [...ids], 2)).toBe(moved);
  });

  it('move nothing that is out of sight', () => {
    expect(rowsMoved(OLD, [...'abcdefgxhij'], 2)).toBe(0);
  });
});
