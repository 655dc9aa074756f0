import { readRange } from './byte-range';

describe('a range of bytes', () => {
  it.each([
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=4-', { start: 4, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-30', { start: 0, end: 9 }],
    ['bytes=9-99', { start: 9, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', null],
    ['bytes=0-1,4-5', null],
    ['lines=0-1', null],
    ['bytes=-', null],
    [undefined, null],
  ])('%s of ten is %p', (header, range) => expect(readRange(header, 10)).toEqual(range));
});
