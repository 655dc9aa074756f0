import { nearestTo } from './nearest';

describe('the conversation nearest to one that is done', () => {
  it.each([
    ['follows it', 'b', 'acd', 'c'],
    ['follows those that have left too', 'b', 'ad', 'd'],
    ['is before it when none follows', 'd', 'abc', 'c'],
    ['is the nearest before it', 'd', 'a', 'a'],
    ['is never one that came since', 'b', 'xy', undefined],
    ['is not itself', 'b', 'b', undefined],
    ['is none in an empty list', 'b', '', undefined],
  ])('%s', (_, id, left, nearest) => {
    expect(nearestTo(id, [...'abcd'], [...left])).toBe(nearest);
  });
});
