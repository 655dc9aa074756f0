import { makeFormats } from './formats';

const NOW = Date.parse('2026-11-23T12:00:30Z');

describe('the formats of times', () => {
  it.each([
    [-200_000, '3 minutes ago'],
    [-60_000, '1 minute ago'],
    [-28_000, 'now'],
    [28_000, 'now'],
    [200_000, 'now'],
  ])('of what has happened, %d ms from now, say %s', (distance, text) => {
    const at = new Date(NOW + distance).toISOString();
    expect(makeFormats('en', ['en-GB']).past(at, NOW)).toBe(text);
  });

  it.each([
    [200_000, 'in 3 minutes'],
    [28_000, 'in 28 seconds'],
    [-28_000, 'now'],
  ])('of what will happen, %d ms from now, say %s', (distance, text) => {
    const at = new Date(NOW + distance).toISOString();
    expect(makeFormats('en', ['en-GB']).coming(at, NOW)).toBe(text);
  });

  it.each([
    [-20_000, '1 min'],
    [-200_000, '3 mins'],
    [-7_300_000, '2 hrs'],
    [-100_000_000, '1 day'],
    [200_000, '1 min'],
  ])('of a wait since %d ms from now say %s', (distance, text) => {
    const at = new Date(NOW + distance).toISOString();
    expect(makeFormats('en', ['en-GB']).lasted(at, NOW)).toBe(text);
  });

  it('write the date of a moment only if it is not today', () => {
    const { exact } = makeFormats('de', ['de-DE']);
    expect(exact('2026-11-23T12:00:03Z', NOW)).toMatch(/^\d\d:\d\d:03$/);
    expect(exact('2026-11-20T12:00:03Z', NOW)).toMatch(/^20\.11\.2026, \d\d:\d\d:03$/);
  });
});
