import { withKeptRow } from './kept-row';

const rows = (ids: string) => [...ids].map((id) => ({ id }));

describe('a row that has left its list', () => {
  it.each([
    ['stays where it was', 'acd', 'abcd', 'abcd'],
    ['stays at the top', 'bcd', 'abcd', 'abcd', 'a'],
    ['stays at the end', 'abc', 'abcd', 'abcd', 'd'],
    ['stays above those below it, under what has come', 'xyacd', 'abcd', 'xyabcd'],
    ['stays above the next one that is left', 'ad', 'abcd', 'abd'],
    ['is last when none of those below it is left', 'xa', 'abcd', 'xab'],
    ['is last when there is nothing else', '', 'abcd', 'b'],
    ['stays above what has gone up past the others', 'dac', 'abcd', 'bdac'],
  ])('%s', (_, items, before, expected, kept = 'b') => {
    expect(withKeptRow(rows(items), rows(before), { id: kept })).toEqual(rows(expected));
  });

  it('is shown as it is now, and the list that was given stays', () => {
    const items = [{ id: 'a', agent: '' }];
    const was = { id: 'b', agent: '' };
    expect(withKeptRow(items, [...items, was], { ...was, agent: 'me' })).toEqual([
      ...items,
      { id: 'b', agent: 'me' },
    ]);
    expect(items).toHaveLength(1);
  });
});
