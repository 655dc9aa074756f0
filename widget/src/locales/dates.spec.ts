import { Dates } from './dates';

const NOW = new Date(2026, 10, 22, 0, 30);

it.each([
  ['en', new Date(2026, 10, 22, 0, 1), 'Today'],
  ['en', new Date(2026, 10, 21, 23, 59), 'Yesterday'],
  ['de', new Date(2026, 10, 21, 23, 59), 'Gestern'],
  ['en', new Date(2026, 10, 20, 12), 'Friday, November 20'],
  ['de', new Date(2026, 10, 20, 12), 'Freitag, 20. November'],
  ['en', new Date(2025, 10, 20, 12), 'November 20, 2025'],
  // A device's clock may be behind the service's.
  ['en', new Date(2026, 10, 23, 1), 'Monday, November 23'],
])('writes the day in %s', (tag, date, text) => {
  expect(new Dates(tag).day(date, NOW)).toBe(text);
});

it('writes the time', () => {
  expect(new Dates('de').time(NOW)).toBe('00:30');
});
