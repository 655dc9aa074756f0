import type { Locale } from '../api/types';

const DAY_SECONDS = 86_400;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_SECONDS],
  ['month', 30 * DAY_SECONDS],
  ['day', DAY_SECONDS],
  ['hour', 3600],
  ['minute', 60],
];

/**
 * Makes the formats of dates and numbers in a language.
 * @param preferred languages of the browser; the first that begins with `locale`, such as en-GB, is used
 */
export function makeFormats(locale: Locale, preferred: readonly string[]) {
  const tag = preferred.find((language) => language.startsWith(locale)) ?? locale;
  const moment = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'medium' });
  const minute = new Intl.DateTimeFormat(tag, { dateStyle: 'short', timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(tag, { dateStyle: 'medium' });
  const shortDay = new Intl.DateTimeFormat(tag, { weekday: 'short', day: 'numeric' });
  const time = new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
  const second = new Intl.DateTimeFormat(tag, { timeStyle: 'medium' });
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const numbers = new Intl.NumberFormat(tag);
  const lists = new Intl.ListFormat(tag);
  const spans = new Map<string, Intl.NumberFormat>(
    UNITS.map(([unit]) => [unit, new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short' })]),
  );
  const distance = (seconds: number) => {
    const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
    return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : relative.format(0, 'second');
  };
  return {
    /** Writes a date and time to the second. */
    moment: (at: string | number) => moment.format(new Date(at)),
    /** Writes a time to the second; omits the date if it is today. */
    exact: (at: string, now: number) =>
      (day.format(new Date(at)) === day.format(now) ? second : moment).format(new Date(at)),
    minute: (at: string | number) => minute.format(new Date(at)),
    day: (at: string | number) => day.format(new Date(at)),
    /** Writes a date, or `Today` or `Yesterday`. */
    nearDay: (at: string | number, now: number) => {
      const midnight = new Date(now).setHours(0, 0, 0, 0);
      const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - midnight) / (DAY_SECONDS * 1000));
      if (days !== 0 && days !== -1) return day.format(new Date(at));
      const word = relative.format(days, 'day');
      return word.charAt(0).toLocaleUpperCase(tag) + word.slice(1);
    },
    shortDay: (at: string | number) => shortDay.format(new Date(at)),
    time: (at: string | number) => time.format(new Date(at)),
    /** Writes a past time, such as `3 minutes ago`. A future time becomes `now`, because clocks differ. */
    past: (at: string, now: number) => distance(Math.min(0, (Date.parse(at) - now) / 1000)),
    /** Writes the time since a past time, such as `3 min`. It is a minute at least. */
    lasted: (at: string, now: number) => {
      const seconds = Math.max(60, (now - Date.parse(at)) / 1000);
      const [unit, length] = UNITS.find(([, length]) => seconds >= length)!;
      return spans.get(unit)!.format(Math.trunc(seconds / length));
    },
    /** Writes a future time, such as `in 3 minutes`. A past time becomes `now`. */
    coming: (at: string, now: number) => {
      const seconds = Math.max(0, Math.round((Date.parse(at) - now) / 1000));
      return seconds < 60 ? relative.format(seconds, 'second') : distance(seconds);
    },
    number: (value: number) => numbers.format(value),
    milliseconds: (value: number) => `${numbers.format(Math.round(value))} ms`,
    list: (items: string[]) => lists.format(items),
  };
}
