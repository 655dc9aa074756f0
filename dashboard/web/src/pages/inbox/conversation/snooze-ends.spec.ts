import { endsAfter } from './snooze-ends';

/** Writes a time as this machine's clock has it. */
const local = (at: Date) =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()].join(
    ' ',
  );

describe('the ends of a snooze', () => {
  it.each([
    ['Monday', new Date(2026, 10, 23, 14, 30, 15), '2026 11 24 9 0 0', '2026 11 30 9 0 0'],
    ['Friday', new Date(2026, 10, 27, 8, 0, 0), '2026 11 28 9 0 0', '2026 11 30 9 0 0'],
    ['Sunday', new Date(2026, 10, 29, 23, 59, 59), '2026 11 30 9 0 0', '2026 11 30 9 0 0'],
    ['the last day of a year', new Date(2026, 11, 31, 0, 0, 0), '2027 1 1 9 0 0', '2027 1 4 9 0 0'],
  ])('are mornings of tomorrow and of the next Monday, on %s', (_, now, tomorrow, monday) => {
    const ends = endsAfter(now);
    expect([local(ends.tomorrow), local(ends.monday)]).toEqual([tomorrow, monday]);
  });

  it('are three hours later, whatever the day', () => {
    const now = new Date('2026-11-30T22:15:00.000Z');
    expect(endsAfter(now).hours.toISOString()).toBe('2026-12-01T01:15:00.000Z');
    expect(now.toISOString()).toBe('2026-11-30T22:15:00.000Z');
  });
});
